package messagetrace

import (
	"encoding/json"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

// content is what a trace shows of a call's JSON.
type content struct {
	Event   string `json:"event"`
	Context struct {
		IP        string `json:"ip"`
		Protocols struct {
			Violations []Violation `json:"violations"`
		} `json:"protocols"`
	} `json:"context"`
}

// came is a call as it stands on raw-events.
func came(r *kgo.Record) *facts {
	h, _ := kafka.HeadersOf(r) // what could be read of them
	f := described(r, &h)
	f.offset = r.Offset
	f.call.Record = schemas.Position{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset}.String()
	return f
}

// blocked is a call that was given up before it was on raw-events.
func blocked(r *kgo.Record) *facts {
	h, _ := kafka.HeadersOf(r)
	f := described(r, &h)
	f.offset = -1
	f.letters = []letter{buried(r, &h)}
	return f
}

func described(r *kgo.Record, h *schemas.Headers) *facts {
	var c content
	_ = json.Unmarshal(r.Value, &c) // one that is no call has nothing to show
	at := h.Received
	if at.IsZero() {
		at = r.Timestamp
	}
	at = at.UTC().Truncate(time.Millisecond)
	return &facts{key: string(r.Key), since: at, call: Call{
		Source: h.Source, Type: h.Type, ReceivedAt: at, Event: c.Event, User: string(r.Key), Origin: h.Origin,
		ClientAddress: c.Context.IP, Bytes: len(r.Value), Violations: c.Context.Protocols.Violations,
	}}
}

// buried is what a dead letter says.
func buried(r *kgo.Record, h *schemas.Headers) letter {
	at := h.FailedAt
	if at.IsZero() {
		at = r.Timestamp.UTC()
	}
	id := deadletters.ID{Partition: r.Partition, Offset: r.Offset}
	return letter{DeadLetter{ID: id.String(), At: at, Reason: h.Reason, Detail: h.Detail}, h.Destination, h.Run, h.From}
}
