package analytics

import (
	"bytes"
	"cmp"
	"errors"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/anabranch/anabranch/analytics/internal/encode"
	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/upload"
)

// Limits of the collection API (protocol, 7).
const (
	maxMessageBytes  = 32_768
	maxBatchBytes    = 512_000
	maxBatchMessages = 2_500
	maxIDCharacters  = 100
)

var writers = sync.Pool{New: func() any { return new(encode.Writer) }}

// encode checks what all calls have in common and writes the message, with its
// members in the order in which version 2 wrote them.
func (c *call) encode() (*queue.Message, error) {
	if c.user() == "" {
		return nil, &MissingFieldError{Call: c.kind, Field: "anonymousId or userId"}
	}
	id := cmp.Or(c.messageID, c.common.MessageId)
	switch {
	case id == "":
		id = upload.NewID()
	case len(id) > maxIDCharacters && utf8.RuneCountInString(id) > maxIDCharacters:
		return nil, &TooLargeError{Call: c.kind, What: "messageId", Limit: maxIDCharacters, Unit: "characters"}
	}
	w := writers.Get().(*encode.Writer)
	defer giveBack(w)
	w.Start(maxMessageBytes)
	c.write(w, id)
	text, err := w.Finish()
	if err != nil {
		return nil, refuse(c.kind, err)
	}
	return &queue.Message{ID: id, Type: c.kind, User: c.user(), JSON: bytes.Clone(text)}, nil
}

func (c *call) write(w *encode.Writer, id string) {
	w.Map("context", c.context, nil)
	w.Map("integrations", c.integrations, nil)
	w.Map(c.maps, c.own, c.more)
	w.Text("anonymousId", c.anonymousID)
	w.Text("userId", c.userID)
	for _, t := range c.texts {
		w.Text(t.name, t.value)
	}
	w.Text("type", c.kind)
	w.Text("messageId", id)
	w.Text("sentAt", c.common.SentAt)
	if at := cmp.Or(c.timestamp, c.common.Timestamp); at != "" {
		w.Text("timestamp", at)
		return
	}
	w.Time("timestamp", time.Now())
}

// giveBack keeps a writer for the next call, unless one large message would so
// be paid for as long as the program runs.
func giveBack(w *encode.Writer) {
	if w.Size() <= 2*maxMessageBytes {
		writers.Put(w)
	}
}

// refuse makes the error of a message that could not be written.
func refuse(kind string, err error) error {
	if errors.Is(err, encode.ErrTooLarge) {
		return &TooLargeError{Call: kind, What: "message", Limit: maxMessageBytes, Unit: "bytes"}
	}
	if e, ok := errors.AsType[*encode.Error](err); ok {
		return &EncodeError{Call: kind, Path: e.Path, Err: e.Err}
	}
	return &EncodeError{Call: kind, Err: err}
}
