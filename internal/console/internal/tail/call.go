package tail

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

// Call is a call as it stands on raw-events. Nobody changes it: it is shared by all who look.
type Call struct {
	Partition int32
	Offset    int64
	At        time.Time // when it was taken; zero: its record does not say
	Source    string
	Type      schemas.Type
	MessageID string
	User      string // the record's key
	Value     []byte // the call in JSON, as it is stored

	naming sync.Once
	event  string

	drawing sync.Once
	drawn   []byte
}

// NewCall reads a record. What it is not told is left empty.
func NewCall(r *kgo.Record) *Call {
	h, _ := kafka.HeadersOf(r) // what could be read of them
	return &Call{
		Partition: r.Partition, Offset: r.Offset, At: kafka.TakenAt(r), Source: strings.Clone(h.Source), Type: h.Type,
		MessageID: strings.Clone(h.MessageID), User: string(r.Key), Value: slices.Clone(r.Value),
	}
}

// Event is what the call is named: the event of a track call, the name of a page or a screen;
// empty: it has none.
func (c *Call) Event() string {
	c.naming.Do(func() {
		var names struct {
			Event string `json:"event"`
			Name  string `json:"name"`
		}
		_ = json.Unmarshal(c.Value, &names) // one that is no call has no name
		c.event = cmp.Or(names.Event, names.Name)
	})
	return c.event
}

// Drawn is what draw makes of the call. It is made once, for all who look.
func (c *Call) Drawn(draw func(*Call) []byte) []byte {
	c.drawing.Do(func() { c.drawn = draw(c) })
	return c.drawn
}

// size is about how many bytes of memory the call takes.
func (c *Call) size() int {
	const rest = 1024
	return rest + 2*len(c.User) + 2*len(c.MessageID) + 2*len(c.Value) // with what is drawn of them
}

// Wanted says which calls somebody wants to see: those that fulfil all of the fields that are
// set.
type Wanted struct {
	Source string
	Type   schemas.Type
	Event  string // as [Call.Event] has it
	User   string
	Text   string // what the messageId, the user, the event or the call as it is stored holds
}

// Wants reports whether a call is one of those.
func (w *Wanted) Wants(c *Call) bool {
	switch {
	case w.Source != "" && w.Source != c.Source, w.Type != "" && w.Type != c.Type, w.User != "" && w.User != c.User:
		return false
	case w.Event != "" && w.Event != c.Event():
		return false
	}
	return w.Text == "" || bytes.Contains(c.Value, []byte(w.Text)) || strings.Contains(c.User, w.Text) ||
		strings.Contains(c.MessageID, w.Text) || strings.Contains(c.Event(), w.Text)
}
