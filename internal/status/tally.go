package status

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

// tally counts what is read. It has no effects, and takes records in any order of
// their partitions.
type tally struct {
	now time.Time

	unread       map[unreadKey]count // on topics of fixed name
	destinations map[string]*destinationTally
	retries      map[time.Duration]*retryTally
	dead         map[deadKey]*DeadGroup
	letters      map[deadletters.ID]letter
	marks        map[deadletters.ID]time.Time
}

// unreadKey is a topic, and who has not read it.
type unreadKey struct{ reader, topic string }

// count is how many events there are, and when the oldest was taken in.
type count struct {
	events int64
	oldest time.Time
}

func (c *count) add(at time.Time) {
	c.events++
	if c.oldest.IsZero() || at.Before(c.oldest) {
		c.oldest = at
	}
}

type destinationTally struct {
	undelivered, retrying count
	withheld              int64
	failingSince          time.Time
	failures              map[schemas.Reason]*Failure
	endpoints             map[uint64]int64 // events for single endpoints
	everywhere            int64            // events for all endpoints
	due                   [len(dueWithin) + 1]int64
}

// dueWithin are the bounds of [Destination.Due].
var dueWithin = [...]time.Duration{0, time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute}

// dueAmong returns the first bound within which something is due so long from now.
func dueAmong(wait time.Duration) int {
	i := slices.IndexFunc(dueWithin[:], func(bound time.Duration) bool { return wait <= bound })
	if i < 0 {
		return len(dueWithin)
	}
	return i
}

type retryTally struct {
	waiting count
	overdue int64
}

// overdueAfter is how late a retry is when something is wrong. Slots that are taken,
// and a pace after an outage, make retries some seconds late.
const overdueAfter = time.Minute

type deadKey struct {
	destination string
	reason      schemas.Reason
}

type letter struct {
	key     deadKey
	written time.Time
}

func newTally(now time.Time) *tally {
	return &tally{
		now:          now,
		unread:       make(map[unreadKey]count),
		destinations: make(map[string]*destinationTally),
		retries:      make(map[time.Duration]*retryTally),
		dead:         make(map[deadKey]*DeadGroup),
		letters:      make(map[deadletters.ID]letter),
		marks:        make(map[deadletters.ID]time.Time),
	}
}

// add counts a record by the topic that it stands on. One whose headers can't be
// read counts too: it waits like any other, for its place in dead-letters.
func (t *tally) add(s *span, r *kgo.Record) {
	if r.Topic == schemas.TopicRedriven {
		if id, at, _, err := deadletters.ReadMark(r); err == nil {
			t.marks[id] = at
		}
		return
	}
	h, _ := kafka.HeadersOf(r)
	if s.reader == "" {
		t.bury(&h, r)
		return
	}
	if s.done(r) {
		return
	}
	if delay, retry := schemas.RetryDelayOf(r.Topic); retry {
		t.retry(delay, &h, r)
	} else if id, routed := schemas.RoutedTo(r.Topic); routed {
		t.destination(id).undelivered.add(taken(&h, r))
	} else {
		key := unreadKey{s.reader, s.Topic}
		c := t.unread[key]
		c.add(taken(&h, r))
		t.unread[key] = c
	}
}

// taken is when ingest took the call. Records of earlier versions do not say so;
// then it was at most a few moments before what their time stamp says. An event of a
// replay, which may be years old, waits since its first attempt.
func taken(h *schemas.Headers, r *kgo.Record) time.Time {
	switch {
	case !h.Received.IsZero() && h.Run == "":
		return h.Received
	case !h.FirstAttempt.IsZero():
		return h.FirstAttempt
	default:
		return r.Timestamp.UTC()
	}
}

func (t *tally) destination(id string) *destinationTally {
	d := t.destinations[id]
	if d == nil {
		d = &destinationTally{failures: make(map[schemas.Reason]*Failure), endpoints: make(map[uint64]int64)}
		t.destinations[id] = d
	}
	return d
}

func (t *tally) retry(delay time.Duration, h *schemas.Headers, r *kgo.Record) {
	if t.retries[delay] == nil {
		t.retries[delay] = new(retryTally)
	}
	waiting := t.retries[delay]
	waiting.waiting.add(taken(h, r))
	if t.now.Sub(h.Due) > overdueAfter {
		waiting.overdue++
	}
	if h.Destination == "" {
		return
	}
	d := t.destination(h.Destination)
	d.retrying.add(taken(h, r))
	d.due[dueAmong(h.Due.Sub(t.now))]++
	d.fail(h)
}

// fail notes what one event that waits has met with.
func (d *destinationTally) fail(h *schemas.Headers) {
	if h.Withheld > 0 {
		d.withheld++
	}
	if first := h.FirstAttempt; d.failingSince.IsZero() || !first.IsZero() && first.Before(d.failingSince) {
		d.failingSince = first
	}
	if len(h.Endpoints) == 0 {
		d.everywhere++
	}
	for _, fingerprint := range h.Endpoints {
		d.endpoints[fingerprint]++
	}
	if h.Reason == "" {
		return // held back before anything was tried
	}
	f := d.failures[h.Reason]
	if f == nil {
		f = &Failure{Reason: h.Reason}
		d.failures[h.Reason] = f
	}
	f.Events++
	// What is due last was tried last, or nearly so.
	if !h.Due.Before(f.due) {
		f.due, f.Detail = h.Due, h.Detail
	}
}

// bury counts a dead letter.
func (t *tally) bury(h *schemas.Headers, r *kgo.Record) {
	key := deadKey{h.Destination, h.Reason}
	at := h.FailedAt
	if at.IsZero() {
		at = r.Timestamp.UTC()
	}
	g := t.dead[key]
	if g == nil {
		g = &DeadGroup{Destination: key.destination, Reason: key.reason, First: at, Last: at}
		t.dead[key] = g
	}
	g.Events++
	if at.Before(g.First) {
		g.First = at
	}
	if !at.Before(g.Last) {
		g.Last, g.Detail = at, h.Detail
	}
	t.letters[deadletters.ID{Partition: r.Partition, Offset: r.Offset}] = letter{key, r.Timestamp}
}

// redriven counts the dead letters that were sent again. A mark that is older than
// what it marks is about a topic that was deleted since.
func (t *tally) redriven() {
	for id, at := range t.marks {
		if l, known := t.letters[id]; known && at.UnixMilli() >= l.written.UnixMilli() {
			t.dead[l.key].Redriven++
		}
	}
}
