package body

import (
	"bytes"
	"compress/gzip"
	"slices"
)

// inflater inflates gzip streams, one at a time, and keeps its memory between
// them: making a gzip.Reader costs thirty times what an event of one kilobyte
// does. (The standard library's is as fast on such bodies as any other is.)
type inflater struct {
	source bytes.Reader
	stream gzip.Reader
	text   []byte
}

// inflate returns what is in a gzip stream, members one behind the other included,
// in memory of z's. It stops when that is more than limit bytes. The checksums of
// what it returns without an error are good, and nothing stands behind it.
func (z *inflater) inflate(raw []byte, limit int) ([]byte, error) {
	z.source.Reset(raw)
	if err := z.stream.Reset(&z.source); err != nil {
		return nil, err
	}
	var err error
	z.text, err = fill(z.text[:0], &z.stream, limit, double)
	return z.text, err
}

// double gives a text more room: there are no more texts at a time than slots to
// decode in.
func double(text []byte) ([]byte, error) { return slices.Grow(text, len(text)+1), nil }

// release lets go of what was lent, and of memory that is too much to keep.
func (z *inflater) release() {
	z.source.Reset(nil)
	if cap(z.text) > keepLarge {
		z.text = nil
	}
}
