package front

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// Gzipped reports whether the body is compressed, whatever its headers say.
func (r *Request) Gzipped() bool { return bytes.HasPrefix(r.Body, []byte{0x1f, 0x8b}) }

// Text returns the body as it was before it was compressed.
func (r *Request) Text() ([]byte, error) {
	if !r.Gzipped() {
		return r.Body, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("inflate request: %w", err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("inflate request: %w", err)
	}
	return text, nil
}
