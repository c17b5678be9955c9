package upload

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/encode"
	"github.com/anabranch/anabranch/analytics/internal/queue"
)

// NewID returns a random UUID (RFC 9562, version 4).
func NewID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails: the program ends when there is no randomness
	id[6] = id[6]&0x0F | 0x40
	id[8] = id[8]&0x3F | 0x80
	text := make([]byte, 0, 36)
	for i, from := range [...]int{0, 4, 6, 8, 10} {
		if i > 0 {
			text = append(text, '-')
		}
		to := [...]int{4, 6, 8, 10, 16}[i]
		text = hex.AppendEncode(text, id[from:to])
	}
	return string(text)
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

// render writes the body of an attempt. It is written anew for each one: sentAt
// is the time of the attempt, from which the server learns how wrong the
// client's clock is, and the transport may still read the body of an attempt
// that has failed.
func render(context []byte, messages []*queue.Message, id string, now time.Time) []byte {
	size := Frame(context) + len(messages)
	for _, m := range messages {
		size += len(m.JSON)
	}
	body := make([]byte, 0, size)
	body = append(body, opening...)
	body = append(body, context...)
	body = append(body, batch...)
	for i, m := range messages {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, m.JSON...)
	}
	body = append(body, identity...)
	body = append(body, id...)
	body = append(body, sentAt...)
	body = now.UTC().AppendFormat(body, encode.TimeFormat)
	return append(body, closing...)
}
