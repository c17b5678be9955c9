package replay

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// Reason is why an event is not sent.
type Reason string

// The reasons, a closed set.
const (
	Sent         Reason = ""             // it is sent
	Unwanted     Reason = "not_chosen"   // it is not what was asked for
	Copy         Reason = "copy"         // the same call stands earlier in the range
	Suppressed   Reason = "suppressed"   // of a user of whom nothing may be sent
	Deleted      Reason = "deleted"      // of a user whose data was to be deleted since
	Notification Reason = "notification" // of a deletion request, which is not repeated
	Personas     Reason = "personas"     // what was told of audiences and traits
	Unconnected  Reason = "unconnected"  // the destination does not get calls of the source, or there is no such source
	Integrations Reason = "integrations" // the call's integrations map
	Only         Reason = "only"         // the audience or computed trait names other destinations
	Historical   Reason = "historical"   // the destination refuses what is that old
	Invalid      Reason = "invalid"      // its headers can't be read
	TooLarge     Reason = "too_large"    // the topic of the destination refuses it
	Had          Reason = "had"          // with --only missing: it was sent then
	Expired      Reason = "expired"      // retention had deleted it before it was read; markers of transactions are counted too
	Unknown      Reason = "unknown"      // with --only missing: the journal does not say
)

// Judge is today's rule of the router. It belongs to one goroutine.
type Judge interface {
	// Judge sets what becomes of an event with the headers: the result, and a decision for
	// each destination that listens.
	Judge(into *journal.Call, h *schemas.Headers, ws *workspace.Snapshot)
}

// terms are what events are judged by: all of it may change while a run is under way.
type terms struct {
	judge      Judge
	workspace  *workspace.Snapshot
	suppressed func(userID []byte) bool
	deleted    func(*kgo.Record) bool
	// What is older than a destination's bound on this day is not for one that refuses the
	// past.
	today time.Time
}

// call is an event that is looked at for several destinations.
type call struct {
	rec     *kgo.Record
	headers schemas.Headers
	reason  Reason // for all destinations
	journal.Call
}

// look is what is the same for all destinations.
func (t *terms) look(c *call, choice *Choice, rec *kgo.Record) {
	h, err := kafka.HeadersOf(rec)
	c.rec, c.headers = rec, h
	switch c.reason = choice.wants(&h, rec); {
	case c.reason != Sent:
	case err != nil:
		c.reason = Invalid
	case h.Origin == schemas.OriginDeletion || h.Type == schemas.TypeDelete:
		c.reason = Notification
	case h.Source == workspace.SourcePersonas && choice.Source != workspace.SourcePersonas:
		c.reason = Personas
	// The key is the user's id, or an anonymous one, which nobody is suppressed by.
	case t.suppressed != nil && t.suppressed(rec.Key):
		c.reason = Suppressed
	case t.deleted(rec):
		c.reason = Deleted
	default:
		h.Only = narrowed(&h)
		t.judge.Judge(&c.Call, &h, t.workspace)
	}
}

// narrowed are the destinations that a call is meant for whenever it is sent; nil: all of
// them. Whom an import narrowed its calls to was said for its own day: one that delivered to
// nobody fills the log for replays.
func narrowed(h *schemas.Headers) []string {
	if h.Source == workspace.SourcePersonas {
		return h.Only
	}
	return nil
}

// wants reports whether the event is what was asked for.
func (c *Choice) wants(h *schemas.Headers, rec *kgo.Record) Reason {
	switch {
	case c.Source != "" && h.Source != c.Source,
		c.Type != "" && h.Type != c.Type,
		c.User != "" && string(rec.Key) != c.User,
		c.Event != "" && (h.Type != schemas.TypeTrack || nameOf(rec.Value) != c.Event):
		return Unwanted
	}
	return Sent
}

// nameOf is the name of the event that a call of type track is about.
func nameOf(value []byte) string {
	var body struct {
		Event string `json:"event"`
	}
	if json.Unmarshal(value, &body) != nil {
		return ""
	}
	return body.Event
}

// verdict says why the call is not sent to a destination.
func (t *terms) verdict(c *call, destination string) Reason {
	if c.reason != Sent {
		return c.reason
	}
	switch c.Result {
	case journal.CallDead:
		if c.Reason == schemas.ReasonSourceUnknown {
			return Unconnected
		}
		return Invalid
	case journal.Routed:
	case journal.Unconnected, journal.Duplicate:
		return Unconnected
	}
	i := slices.IndexFunc(c.Decisions, func(d journal.Decision) bool { return d.Destination == destination })
	if i < 0 {
		return Unconnected
	}
	switch d := &c.Decisions[i]; {
	case d.Result == journal.Sent:
	case d.Why == journal.WhyOnly:
		return Only
	case d.Why == journal.WhyHistorical:
		return Historical
	case d.Result == journal.DecisionDead:
		return Invalid
	default:
		return Integrations
	}
	d, ok := t.workspace.Destination(destination)
	if ok && !d.Is(workspace.TypeWebhooks) {
		return Unconnected // it was of another type when the run was started
	}
	if ok && !d.Receives(t.today.Sub(happened(c))) {
		return Historical
	}
	return Sent
}

// happened is when an imported call happened, and when any other was received.
func happened(c *call) time.Time {
	switch {
	case !c.headers.Happened.IsZero():
		return c.headers.Happened
	case !c.headers.Received.IsZero():
		return c.headers.Received
	}
	return c.rec.Timestamp
}

// again is the event as it is sent once more: its bytes and its key, what its headers said,
// and which run it is of.
func again(c *call, destination, run string) *kgo.Record {
	h := c.headers
	h.Origin, h.Run = schemas.OriginReplay, run
	// Whom a call is narrowed to, and how old it is, is decided. Its trace is over.
	h.Version, h.Only, h.Happened, h.TraceParent = 0, nil, time.Time{}, ""
	if h.Received.IsZero() {
		h.Received = kafka.TakenAt(c.rec)
	}
	out := &kgo.Record{Topic: schemas.ReplayTopic(destination), Key: c.rec.Key, Value: c.rec.Value}
	kafka.SetHeaders(out, &h)
	return out
}
