package upload

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/hex"
	"io"
	"sync"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/encode"
	"github.com/anabranch/anabranch/analytics/internal/queue"
)

// NewID returns a random UUID (RFC 9562, version 4).
func NewID() string {
	var text [idSize]byte
	return string(AppendID(text[:0]))
}

// AppendID appends one.
func AppendID(text []byte) []byte {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails: the program ends when there is no randomness
	id[6] = id[6]&0x0F | 0x40
	id[8] = id[8]&0x3F | 0x80
	for i, from := range [...]int{0, 4, 6, 8, 10} {
		if i > 0 {
			text = append(text, '-')
		}
		to := [...]int{4, 6, 8, 10, 16}[i]
		text = hex.AppendEncode(text, id[from:to])
	}
	return text
}

// The parts of a body around its messages: context, batch, messageId and sentAt, in
// the order in which version 2 of the library wrote them.
const (
	opening  = `{"context":`
	batch    = `,"batch":[`
	identity = `],"messageId":"`
	sentAt   = `","sentAt":"`
	closing  = `"}`
	idSize   = 36
)

// Frame returns how many bytes a body has besides its messages and the commas
// between them, with the context given.
func Frame(context []byte) int {
	return len(opening) + len(context) + len(batch) + len(identity) + idSize + len(sentAt) + len(encode.TimeFormat) + len(closing)
}

// frame is what a body has besides its messages.
type frame struct{ before, after []byte }

// newFrame makes it anew for each attempt: sentAt is the time of the attempt, from
// which the server learns how wrong the client's clock is.
func newFrame(context []byte, id string, now time.Time) frame {
	before := append(append([]byte(opening), context...), batch...)
	after := append(append([]byte(identity), id...), sentAt...)
	after = now.UTC().AppendFormat(after, encode.TimeFormat)
	return frame{before, append(after, closing...)}
}

// write writes a body.
func (f frame) write(to io.Writer, messages []*queue.Message) {
	_, _ = to.Write(f.before)
	for i, m := range messages {
		if i > 0 {
			_, _ = to.Write(comma)
		}
		_, _ = to.Write(m.JSON)
	}
	_, _ = to.Write(f.after)
}

var comma = []byte{','}

// compressLeast is how many bytes a body has that is worth compressing.
const compressLeast = 1024

var compressors = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is one that there is
	return w
}}

// render returns the body of an attempt, compressed if asked to and worth it. It is no
// buffer that is used again: the transport may still read the body of an attempt that
// has failed.
func render(f frame, messages []*queue.Message, compress bool) (body []byte, compressed bool) {
	size := len(f.before) + len(f.after) + queue.Size(messages) - 1 // no comma follows the last
	if !compress || size < compressLeast {
		plain := bytes.NewBuffer(make([]byte, 0, size))
		f.write(plain, messages)
		return plain.Bytes(), false
	}
	packed := bytes.NewBuffer(make([]byte, 0, size/4))
	w := compressors.Get().(*gzip.Writer)
	defer compressors.Put(w)
	w.Reset(packed)
	f.write(w, messages)
	_ = w.Close() // nothing fails that is written to memory
	return packed.Bytes(), true
}
