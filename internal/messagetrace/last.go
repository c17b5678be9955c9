package messagetrace

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

// Selection says which events are meant: those that a destination got, or should have got,
// those that failed for a reason, both, or the calls of a user.
type Selection struct {
	Destination string
	Reason      schemas.Reason
	User        string
	Last        int // how many at most, 1 to [MostLast]
	Since       time.Time
}

// MostLast is how many events are listed at most.
const MostLast = 1000

// firstEvents is how far back a list looks at first: a busy destination has a thousand
// events in seconds, and all that was looked at is kept until the newest are known.
const firstEvents = 5 * time.Second

// Event is one event in a list.
type Event struct {
	At          time.Time      `json:"at"` // of the last attempt; of a user's calls, when it was taken
	MessageID   string         `json:"message_id"`
	Source      string         `json:"source"`
	Type        schemas.Type   `json:"type,omitempty"`
	User        string         `json:"user,omitempty"`
	Destination string         `json:"destination,omitempty"`
	Verdict     string         `json:"verdict,omitempty"` // as that of an [Attempt]
	Reason      schemas.Reason `json:"reason,omitempty"`
	Attempts    int            `json:"attempts,omitempty"` // made so far
	MS          int64          `json:"ms,omitempty"`
}

// Last returns the newest events of a selection, the newest first. Of an event at a
// destination it has the last attempt alone.
func Last(ctx context.Context, log *Log, of Selection) ([]Event, error) {
	if of.User != "" {
		return log.lastOfUser(ctx, of)
	}
	l := &lister{Log: log, of: of, newest: make(map[printed]sighting)}
	for _, w := range windows(of.Since, time.Now().Add(skew), "", firstEvents) {
		spans, err := log.spans(ctx, schemas.TopicJournal, nil, w)
		if err != nil {
			return nil, err
		}
		if err = log.scan(ctx, spans, l.take, []byte(cmp.Or(of.Destination, string(of.Reason)))); err != nil {
			return nil, err
		}
		if len(l.newest) >= of.Last {
			break
		}
		if log.Progress != nil {
			log.Progress(w.From, 0)
		}
	}
	return l.events(ctx)
}

// lister collects what the journal says of attempts.
type lister struct {
	*Log

	of     Selection
	newest map[printed]sighting
}

// printed is an event at a destination.
type printed struct {
	print       uint64
	destination string
}

// sighting is where an event was seen last.
type sighting struct {
	try

	partition int32
}

func (l *lister) take(r *kgo.Record) error {
	said := read(r)
	for a := range said.Attempts() {
		wanted := (l.of.Destination == "" || l.of.Destination == a.Destination) && (l.of.Reason == "" || l.of.Reason == a.Reason)
		event := printed{a.Fingerprint, a.Destination}
		if before, known := l.newest[event]; wanted && (!known || before.At.Before(a.At)) {
			l.newest[event] = sighting{try{a, said.Topic, objectOf(said, &a)}, said.Partition}
		}
	}
	return nil
}

// events looks up the newest of what was collected.
func (l *lister) events(ctx context.Context) ([]Event, error) {
	all := make([]sighting, 0, len(l.newest))
	for _, s := range l.newest {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b sighting) int { return b.At.Compare(a.At) })
	all = all[:min(len(all), l.of.Last)]
	events := make([]Event, len(all))
	for i := range all {
		s := &all[i]
		events[i] = Event{
			At: s.At.UTC(), Source: s.Source, Destination: s.Destination, Verdict: s.Outcome.String(), Reason: s.Reason,
			Attempts: s.Number, MS: s.Took.Milliseconds(),
		}
		if err := l.name(ctx, s, &events[i]); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// name reads whose event it is from its record, if that is still there.
func (l *lister) name(ctx context.Context, s *sighting, e *Event) error {
	if l.partitions[s.from] == 0 {
		return nil // the topic was deleted
	}
	part, err := ranges.Fetch(ctx, l.Topics.Client, s.from, s.partition, s.Offset, 1)
	if err != nil {
		return err
	}
	for _, r := range part.Records {
		if r.Offset == s.Offset {
			h, _ := kafka.HeadersOf(r) // what could be read of them
			e.MessageID, e.Type, e.User = h.MessageID, h.Type, string(r.Key)
		}
	}
	return nil
}

// lastOfUser returns the newest calls of a user.
func (l *Log) lastOfUser(ctx context.Context, of Selection) ([]Event, error) {
	if of.Destination != "" || of.Reason != "" {
		return nil, errors.New("expected either a user, or a destination and a reason, found both")
	}
	num, there, err := l.home(ctx, schemas.TopicRawEvents, of.User)
	if err != nil || !there {
		return nil, err
	}
	events := []Event{}
	for _, w := range windows(of.Since, time.Now().Add(skew), "", firstEvents) {
		spans, err := l.spans(ctx, schemas.TopicRawEvents, []int32{num}, w)
		if err != nil {
			return nil, err
		}
		err = l.scan(ctx, spans, func(r *kgo.Record) error {
			if string(r.Key) == of.User {
				h, _ := kafka.HeadersOf(r) // what could be read of them
				events = append(events, Event{At: r.Timestamp.UTC().Truncate(time.Millisecond), MessageID: h.MessageID, Source: h.Source, Type: h.Type, User: of.User})
			}
			return nil
		}, []byte(of.User))
		if err != nil {
			return nil, err
		}
		if len(events) >= of.Last {
			break
		}
	}
	slices.Reverse(events) // those of one moment too
	slices.SortStableFunc(events, func(a, b Event) int { return b.At.Compare(a.At) })
	return events[:min(len(events), of.Last)], nil
}

// PrintEvents prints events below each other.
func PrintEvents(w io.Writer, events []Event) error {
	c := &terminal.Columns{Out: w}
	_ = c.Row("AT", "MESSAGE ID", "SOURCE", "TYPE", "USER", "DESTINATION", "VERDICT", "REASON", "ATTEMPTS", "MS") // Flush tells
	for i := range events {
		e := &events[i]
		_ = c.Row(at(e.At), terminal.Safe(e.MessageID), terminal.Safe(e.Source), terminal.Safe(string(e.Type)), terminal.Safe(e.User), terminal.Safe(e.Destination),
			terminal.Safe(e.Verdict), terminal.Safe(string(e.Reason)), strconv.Itoa(e.Attempts), strconv.FormatInt(e.MS, 10))
	}
	return c.Flush()
}
