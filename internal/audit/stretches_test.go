package audit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// stretch are calls of one partition, a second apart, each of which crm takes at once.
type stretch struct {
	*ledger

	began time.Time
	n     int64
}

func newStretch(n int64) *stretch {
	raw := map[int32]*calls{0: newCalls(ranges.Range{End: n}, n)}
	return &stretch{ledger: newLedger(Selection{}, 1, raw), began: time.Unix(noon, 0).UTC(), n: n}
}

func (s *stretch) at(offset int64) time.Time { return s.began.Add(time.Duration(offset) * time.Second) }

// route has the router tell of calls from one offset up to another.
func (s *stretch) route(t *testing.T, from, to int64, change ...func(*journal.Call)) {
	t.Helper()
	head := journal.Head{Stage: "router", Topic: schemas.TopicRawEvents, From: from, Next: to, KeyID: 1, Base: s.at(from)}
	var all journal.Calls
	for offset := from; offset < to; offset++ {
		c := journal.Call{
			Offset: offset, Fingerprint: uint64(offset + 1), Source: "web", Result: journal.Routed,
			Decisions: []journal.Decision{{Destination: "crm", Result: journal.Sent}},
		}
		for _, change := range change {
			change(&c)
		}
		all.Add(&c)
	}
	s.take(t, &head, all.Append(nil, &head))
}

// deliver has a sink tell that it delivered calls, whose records are at their offsets.
func (s *stretch) deliver(t *testing.T, topic string, from, to int64, change ...func(*journal.Attempt)) {
	t.Helper()
	head := journal.Head{Stage: "webhook-sink", Topic: topic, KeyID: 1, Base: s.at(to)}
	destination, _ := schemas.RoutedTo(topic)
	var all journal.Attempts
	for offset := from; offset < to; offset++ {
		a := journal.Attempt{
			Offset: offset, Fingerprint: uint64(offset + 1), Destination: destination, Source: "web",
			Outcome: journal.Delivered, Endpoints: 1, Number: 1, At: s.at(offset),
		}
		for _, change := range change {
			change(&a)
		}
		all.Add(&a)
	}
	head.From, head.Next = all.Range()
	s.take(t, &head, all.Append(nil, &head))
}

func (s *stretch) take(t *testing.T, head *journal.Head, value []byte) {
	t.Helper()
	r, err := journal.Decode(head.Key(), value)
	if err == nil {
		err = s.record(r)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// report is what the ledger comes to once the calls were read.
func (s *stretch) report(t *testing.T) *Report {
	t.Helper()
	defer s.piles.Close()
	if err := s.balance(); err != nil {
		t.Fatal(err)
	}
	for offset := range s.n {
		s.call(0, offset, s.at(offset), func() (string, string) { return "web", "m" })
	}
	r := new(Report)
	r.Rows, r.Missing, r.Unknown = s.result()
	return r
}

// TestStretches are ranges of which something else holds in the middle than at the ends.
func TestStretches(t *testing.T) {
	t.Parallel()
	const n = 30
	crm, old := schemas.DeliverTopic("crm"), schemas.ArchiveTopic("old")
	to := func(destination string) func(*journal.Call) {
		return func(c *journal.Call) { c.Decisions[0].Destination = destination }
	}
	both := func(c *journal.Call) {
		c.Decisions = append(c.Decisions, journal.Decision{Destination: "mail", Result: journal.Sent})
	}
	dead := func(a *journal.Attempt) { a.Outcome, a.Reason = journal.Dead, schemas.ReasonDestinationRemoved }
	for name, c := range map[string]struct {
		tell    func(*testing.T, *stretch)
		rows    []Row
		unknown []Doubt
		outcome Outcome
	}{
		"the router's journal was off": {
			tell: func(t *testing.T, s *stretch) {
				t.Helper()
				s.route(t, 0, 10)
				s.route(t, 20, n)
				s.deliver(t, crm, 0, n) // the sink's was not
			},
			rows:    []Row{{Source: "web", Destination: "crm", Accepted: 20, Delivered: 20}},
			unknown: []Doubt{{Cause: NotJournalled, Part: "raw-events[0]", Events: 10, From: time.Unix(noon+10, 0).UTC(), To: time.Unix(noon+19, 0).UTC()}},
			outcome: NotAllSaid,
		},
		"the sink's was, so nothing proves what it delivered": {
			tell: func(t *testing.T, s *stretch) {
				t.Helper()
				s.route(t, 0, n)
				s.deliver(t, crm, 0, 10)
				s.deliver(t, crm, 20, n)
			},
			rows:    []Row{{Source: "web", Destination: "crm", Accepted: n, Delivered: 20, Missing: 10}},
			outcome: SomeLost,
		},
		"a destination was removed, and what waited went to dead letters": {
			tell: func(t *testing.T, s *stretch) {
				t.Helper()
				s.route(t, 0, 20, both)
				s.route(t, 20, n)
				s.deliver(t, crm, 0, n)
				s.deliver(t, schemas.DeliverTopic("mail"), 0, 10)
				s.deliver(t, schemas.DeliverTopic("mail"), 10, 20, dead)
				for offset := range int64(10) {
					if err := s.bury(place{s.names.of(schemas.TopicDeadLetters), 0, offset}, schemas.Position{}, uint64(offset+11), "mail", time.Time{}, false); err != nil {
						t.Fatal(err)
					}
				}
			},
			rows: []Row{
				{Source: "web", Destination: "crm", Accepted: n, Delivered: n},
				{Source: "web", Destination: "mail", Accepted: 20, Delivered: 10, Dead: 10},
			},
		},
		"a destination was removed, and its topic deleted": {
			tell: func(t *testing.T, s *stretch) {
				t.Helper()
				s.route(t, 0, 20, both)
				s.route(t, 20, n)
				s.deliver(t, crm, 0, n)
				s.deliver(t, schemas.DeliverTopic("mail"), 0, 10)
			},
			rows: []Row{
				{Source: "web", Destination: "crm", Accepted: n, Delivered: n},
				{Source: "web", Destination: "mail", Accepted: 20, Delivered: 10, Missing: 10},
			},
			outcome: SomeLost,
		},
		"an archive stored some, and has the rest before it": {
			tell: func(t *testing.T, s *stretch) {
				t.Helper()
				s.route(t, 0, n, to("old"))
				s.deliver(t, old, 0, 20, func(a *journal.Attempt) { a.Destination = "old" })
				for offset := int64(20); offset < n; offset++ {
					if err := s.wait(old, 0, offset, uint64(offset+1), "old"); err != nil {
						t.Fatal(err)
					}
				}
			},
			rows: []Row{{Source: "web", Destination: "old", Accepted: n, Delivered: 20, Waiting: 10}},
		},
		"an archive that tells of nothing": {
			tell:    func(t *testing.T, s *stretch) { t.Helper(); s.route(t, 0, n, to("old")) },
			unknown: []Doubt{{Cause: NotJournalled, Part: "deliver.old", Events: n, From: time.Unix(noon, 0).UTC(), To: time.Unix(noon, 0).UTC()}},
			outcome: NotAllSaid,
		},
		"a webhook became a topic": {
			tell: func(t *testing.T, s *stretch) {
				t.Helper()
				s.route(t, 0, 10)
				s.deliver(t, crm, 0, 9)
				s.route(t, 10, n, func(c *journal.Call) { c.Decisions[0].Why = "shop.calls" })
			},
			rows:    []Row{{Source: "web", Destination: "crm", Accepted: n, Delivered: n - 1, Missing: 1}},
			outcome: SomeLost,
		},
		"a pause: what it put back waits, however often": {
			tell: func(t *testing.T, s *stretch) {
				t.Helper()
				s.route(t, 0, n)
				s.deliver(t, crm, 0, 20)
				deferred := func(a *journal.Attempt) {
					a.Outcome, a.Number, a.Endpoints, a.Topic = journal.Deferred, 0, 0, retryTopic
				}
				s.deliver(t, crm, 20, n, deferred)
				s.deliver(t, retryTopic, 20, n, deferred, func(a *journal.Attempt) { a.Destination = "crm" })
				for offset := int64(20); offset < n; offset++ {
					if err := s.wait(retryTopic, 1, offset, uint64(offset+1), "crm"); err != nil {
						t.Fatal(err)
					}
				}
			},
			rows: []Row{{Source: "web", Destination: "crm", Accepted: n, Delivered: 20, Waiting: 10}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStretch(n)
			c.tell(t, s)
			r := s.report(t)
			if c.rows == nil {
				c.rows = []Row{}
			}
			if c.unknown == nil {
				c.unknown = []Doubt{}
			}
			if diff := cmp.Diff(c.rows, r.Rows); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.unknown, r.Unknown); diff != "" {
				t.Errorf("not known (-want +got):\n%s", diff)
			}
			if missing := int(r.Total().Missing); r.Outcome() != c.outcome || len(r.Missing) != missing {
				t.Errorf("outcome %d, want %d; %d missing of which %d are named", r.Outcome(), c.outcome, missing, len(r.Missing))
			}
		})
	}
}
