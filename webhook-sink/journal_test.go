package webhooksink

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// journalled are the attempts of the journal, by the messageIds of all events, which it
// knows by their fingerprints alone.
func (p *plant) journalled(all ...*kgo.Record) map[string][]format.Attempt {
	p.t.Helper()
	prints, err := journal.FindPrints(p.t.Context(), p.topics)
	if err != nil {
		p.t.Fatal(err)
	}
	ids := make(map[uint64]string)
	for _, rec := range all {
		ids[prints.Of(rec)] = headersOf(p.t, rec).MessageID
	}
	spans, err := journal.Spans(p.t.Context(), p.client, time.Time{}, time.Time{})
	if err != nil {
		p.t.Fatal(err)
	}
	found := make(map[string][]format.Attempt)
	err = journal.Read(p.t.Context(), p.cluster.Options(), spans, func(_ *kgo.Record, r *format.Record, err error) error {
		if err != nil {
			return err
		}
		if r.KeyID != prints.KeyID() || r.Stage != "webhook-sink" {
			p.t.Errorf("a record of %+v", r.Head)
		}
		for a := range r.Attempts() {
			id, known := ids[a.Fingerprint]
			if !known {
				p.t.Errorf("an attempt at %s of an event that there is not: %+v", r.Topic, a)
			}
			found[id] = append(found[id], a)
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, ends := range found {
		slices.SortFunc(ends, func(a, b format.Attempt) int { return a.At.Compare(b.At) })
	}
	return found
}

// TestTheJournal says how each event ended, attempt by attempt.
func TestTheJournal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 2, destination("crm"))
		l := newLedger(20 * time.Millisecond)
		l.answer = func(_, messageID string, attempt int) outcome.Outcome {
			switch {
			case messageID == "late" && attempt == 1:
				return failed(schemas.ReasonStatus5xx)
			case messageID == "refused":
				return outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonStatus4xx}
			}
			return outcome.Outcome{Verdict: outcome.Delivered, Asked: 1}
		}
		events := []*kgo.Record{event("crm", "a", "fine", 0), event("crm", "b", "late", 1), event("crm", "c", "refused", 1)}
		p.write(events...)
		r := p.start(l.attempt)
		testkit.Until(t, func() bool { return len(l.all()) == 2 }, "two events to be delivered")
		r.end()
		got := p.journalled(events...)
		retry := got["late"][0]
		if until := retry.Until.Sub(retry.At); until < 3*time.Second || until > 7*time.Second {
			t.Errorf("the retry is due after %v, want about 5s", until)
		}
		for _, all := range got {
			for i := range all {
				all[i].Fingerprint, all[i].Offset, all[i].At, all[i].Until = 0, 0, time.Time{}, time.Time{}
			}
		}
		entry := func(o format.Outcome, reason schemas.Reason, number int, endpoints uint8, topic string) format.Attempt {
			return format.Attempt{Destination: "crm", Source: "website", Outcome: o, Reason: reason, Number: number, Endpoints: endpoints, Topic: topic, Took: 20 * time.Millisecond}
		}
		want := map[string][]format.Attempt{
			"fine":    {entry(format.Delivered, "", 1, 1, "")},
			"late":    {entry(format.Retried, schemas.ReasonStatus5xx, 1, 0, "webhook-retry.5s"), entry(format.Delivered, "", 2, 1, "")},
			"refused": {entry(format.Dead, schemas.ReasonStatus4xx, 1, 0, "")},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the journal (-want +got):\n%s", diff)
		}
	})
}

// TestWhatIsCommittedIsInTheJournal: under kills nothing is missing, and what comes twice
// is what was delivered twice.
func TestWhatIsCommittedIsInTheJournal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 900
		p := newPlant(t, testkit.Virtual(t), 3, destination("crm"))
		events := spread(n, 3)
		p.write(events...)
		l := newLedger(20 * time.Millisecond)
		for kills := range 4 {
			r := p.start(l.attempt, static("one"))
			before := len(l.all())
			testkit.Until(t, func() bool { return len(l.all()) >= before+n/6 }, "some events to be delivered")
			virtual.Sleep(time.Duration(kills) * 333 * time.Millisecond)
			r.kill()
		}
		r := p.start(l.attempt, static("one"))
		testkit.Until(t, func() bool { return distinct(l.all()) == n }, "all events to be delivered")
		r.end() // nothing waits for a commit of its own
		got := p.journalled(events...)
		delivered := make(map[string]int)
		for _, id := range l.all() {
			delivered[id]++
		}
		for _, rec := range events {
			id := headersOf(t, rec).MessageID
			all := got[id]
			if len(all) == 0 || len(all) > delivered[id] || slices.ContainsFunc(all, func(a format.Attempt) bool { return a.Outcome != format.Delivered || a.Offset != all[0].Offset }) {
				t.Errorf("%s was delivered %d times, and the journal says %+v", id, delivered[id], all)
			}
		}
	})
}

// TestAJournalThatCannotBeWritten holds up commits, and no delivery. What waited is written
// once it can be.
func TestAJournalThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		fault := p.refuse(schemas.TopicJournal, kerr.TopicAuthorizationFailed, -1)
		events := spread(20, 1)
		p.write(events[:10]...)
		l := newLedger(time.Millisecond)
		r := p.start(l.attempt)
		virtual.Sleep(10 * time.Second)
		p.write(events[10:]...)
		virtual.Sleep(10 * time.Second)
		if got := len(l.all()); got != 20 {
			t.Errorf("%d events were delivered, want all 20", got)
		}
		if got := p.committed(0); got != 0 {
			t.Errorf("committed %d, which the journal does not tell of", got)
		}
		if got := r.metric("journal_write_failures_total"); got < 3 || got > 25 {
			t.Errorf("%v failed tries in twenty seconds, want one in one or two seconds", got)
		}
		fault.Remove()
		virtual.Sleep(5 * time.Second)
		if got := p.committed(0); got != 20 {
			t.Errorf("committed %d once the journal is written, want 20", got)
		}
		r.end()
		l.once(t, ids("e", 20))
		for id, all := range p.journalled(events...) {
			if len(all) != 1 {
				t.Errorf("the journal tells of %s %d times", id, len(all))
			}
		}
	})
}

// TestAStopWhileTheJournalCannotBeWritten ends in time, and what was not written is
// delivered again.
func TestAStopWhileTheJournalCannotBeWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		fault := p.refuse(schemas.TopicJournal, kerr.NotLeaderForPartition, -1)
		events := spread(10, 1)
		p.write(events...)
		l := newLedger(time.Millisecond)
		r := p.start(l.attempt)
		virtual.Sleep(5 * time.Second)
		began := time.Now()
		r.end()
		if took := time.Since(began); took > 8*time.Second {
			t.Errorf("the stop took %v", took)
		}
		if got := p.committed(0); got != 0 {
			t.Errorf("committed %d, which the journal does not tell of", got)
		}
		fault.Remove()
		r = p.start(l.attempt)
		testkit.Until(t, func() bool { return len(l.all()) == 20 }, "all events to be delivered again")
		r.end()
		if got := p.committed(0); got != 10 || len(p.journalled(events...)) != 10 {
			t.Errorf("committed %d, want 10", got)
		}
	})
}

// TestWithoutAJournal nothing of it is written, or asked of the brokers.
func TestWithoutAJournal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		p.write(spread(5, 1)...)
		l := newLedger(time.Millisecond)
		r := p.start(l.attempt, func(_ *Config, set *Settings) { set.Journal = false })
		testkit.Until(t, func() bool { return len(l.all()) == 5 }, "all events to be delivered")
		r.end()
		if got := p.committed(0); got != 5 || len(p.journalled()) != 0 {
			t.Errorf("committed %d, want 5 and no journal", got)
		}
	})
}
