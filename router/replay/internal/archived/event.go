package archived

import (
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// Blocked returns the ids that stand for nobody in the calls of a source.
type Blocked func(source string) *schemas.BlockedIDs

// lines makes records of lines. It belongs to one goroutine.
type lines struct {
	blocked Blocked
	object  stablejson.Object
}

// record returns the record that a line of a source was of: its bytes, its key, what its
// headers said as far as the line says it too, and as its time when it was received. Of a
// source that is no id there is the line alone. The line is not kept.
func (l *lines) record(source string, line []byte) (*kgo.Record, error) {
	rec := &kgo.Record{Value: append([]byte(nil), line...)}
	if !schemas.ValidID(source) {
		return rec, nil
	}
	if err := l.object.Parse(line); err != nil {
		return nil, err
	}
	h := schemas.Headers{Source: source, Type: schemas.Type(l.text("type")), MessageID: l.text("messageId"), Origin: schemas.OriginAPI}
	happened, hasTime := l.time("timestamp")
	received, known := l.time("receivedAt")
	if h.Type == schemas.TypeDelete {
		h.Origin = schemas.OriginDeletion // which nobody received: it was made here
		received, known = happened, hasTime
	}
	switch {
	case h.Type == "" || h.MessageID == "":
		return nil, errors.New("expected an event with a type and a messageId")
	case !known:
		return nil, fmt.Errorf("expected an event with receivedAt, a time such as %s", schemas.TimeLayout)
	}
	h.Received = received
	if hasTime && happened.Before(received) {
		// Which calls were imported an archive does not say.
		h.Happened = happened
	}
	if m := l.object.Get("integrations"); len(m) > len(`{}`) {
		h.Integrations = append([]byte(nil), m...)
	}
	rec.Key, rec.Timestamp = l.key(source, h.MessageID), received
	kafka.SetHeaders(rec, &h)
	return rec, nil
}

func (l *lines) text(member string) string {
	text, _ := stablejson.Text(l.object.Get(member))
	return text
}

func (l *lines) time(member string) (at time.Time, ok bool) {
	at, err := time.Parse(time.RFC3339Nano, l.text(member))
	return at, err == nil
}

// key is who did it, as ingest has it.
func (l *lines) key(source, messageID string) []byte {
	for _, member := range []string{"userId", "anonymousId"} {
		if id := []byte(l.text(member)); len(id) > 0 && !l.blocked(source).Blocks(id) {
			return id
		}
	}
	return []byte(messageID)
}
