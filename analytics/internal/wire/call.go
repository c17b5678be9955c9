package wire

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/anabranch/anabranch/analytics/internal/encode"
	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/upload"
)

// Limits of a call and of a request (protocol, 7).
const (
	MaxBytes         = 32_768
	MaxIDCharacters  = 100
	MaxBatchBytes    = 512_000
	MaxBatchMessages = 2_500
)

// Errors of a call. Others are those of package encode.
var (
	ErrNobody    = errors.New("neither a userId nor an anonymousId")
	ErrLongID    = errors.New("the messageId is too long")
	ErrTimestamp = errors.New("want ISO 8601, as 2006-01-02T15:04:05.000Z")
)

// Call is the members of any kind of message, under the names they are sent with.
type Call struct {
	Kind                  string
	Context, Integrations map[string]any
	AnonymousID, UserID   string
	MessageID             string    // a random one when empty
	Timestamp             string    // the time below when empty
	Time                  time.Time // now when zero
	SentAt                string
	Maps                  string // "traits" or "properties"
	Own, More             map[string]any
	Texts                 [2]Text // what this kind alone has
}

// Text is a member that is not written when its value is empty.
type Text struct {
	Name, Value string
	Required    bool
}

var writers = sync.Pool{New: func() any { return new(encode.Writer) }}

// Encode checks what all calls have in common and writes the message, with its
// members in the order in which version 2 wrote them.
func (c *Call) Encode() (*queue.Message, error) {
	for _, t := range c.Texts {
		if t.Required && t.Value == "" {
			return nil, Absent(t.Name)
		}
	}
	user := cmp.Or(c.UserID, c.AnonymousID) // by which the service keeps it, too
	switch {
	case user == "":
		return nil, ErrNobody
	case len(user) > MaxBytes: // before it is copied
		return nil, encode.ErrTooLarge
	case len(c.MessageID) > MaxIDCharacters && utf8.RuneCountInString(c.MessageID) > MaxIDCharacters:
		return nil, ErrLongID
	case c.Timestamp != "" && !readable(c.Timestamp):
		return nil, &encode.Error{Path: "timestamp", Err: fmt.Errorf("%.40q: %w", c.Timestamp, ErrTimestamp)}
	}
	now := time.Now()
	if c.Time.IsZero() {
		c.Time = now
	}
	if year := c.Time.UTC().Year(); c.Timestamp == "" && (year < 0 || year > 9999) {
		return nil, &encode.Error{Path: "timestamp", Err: fmt.Errorf("the year %d: %w", year, ErrTimestamp)}
	}
	w := writers.Get().(*encode.Writer)
	defer giveBack(w)
	id, user := names(c.MessageID, user)
	w.Start(MaxBytes)
	c.write(w, id)
	text, err := w.Finish()
	if err != nil {
		return nil, err
	}
	return Message(c.Kind, id, user, bytes.Clone(text), now), nil
}

// names returns a messageId, a random one if it is empty, and a user in one piece of
// memory that is nobody else's. Either may have been cut out of something large, or
// out of a buffer that is used again.
func names(id, user string) (ownID, ownUser string) {
	var random [40]byte
	var text strings.Builder
	if id == "" {
		own := upload.AppendID(random[:0])
		text.Grow(len(own) + len(user))
		text.Write(own)
	} else {
		text.Grow(len(id) + len(user))
		text.WriteString(id)
	}
	n := text.Len()
	text.WriteString(user)
	return text.String()[:n], text.String()[n:]
}

// overhead is what a message costs beside its texts: its record, and that of its user,
// with their places in lists and maps. A test measures it.
const overhead = 256

// Message makes the message of texts that are nobody else's.
func Message(kind, id, user string, json []byte, now time.Time) *queue.Message {
	return &queue.Message{
		ID: id, Type: kind, User: user, JSON: json, At: now,
		Cost: cap(json) + len(id) + len(user) + overhead,
	}
}

func (c *Call) write(w *encode.Writer, id string) {
	w.Map("context", c.Context, nil)
	w.Map("integrations", c.Integrations, nil)
	w.Map(c.Maps, c.Own, c.More)
	w.Text("anonymousId", c.AnonymousID)
	w.Text("userId", c.UserID)
	for _, t := range c.Texts {
		w.Text(t.Name, t.Value)
	}
	w.Text("type", c.Kind)
	w.Text("messageId", id)
	w.Text("sentAt", c.SentAt)
	if c.Timestamp != "" {
		w.Text("timestamp", c.Timestamp)
		return
	}
	w.Time("timestamp", c.Time)
}

// giveBack keeps a writer for the next call, unless one large message would so
// be paid for as long as the program runs.
func giveBack(w *encode.Writer) {
	if w.Size() <= 2*MaxBytes {
		writers.Put(w)
	}
}
