package replay

import (
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestAReplay sends each event of the range once to each destination, and says so.
func TestAReplay(t *testing.T) {
	t.Parallel()
	const n = 500
	b := newBench(t, "crm", "lake")
	b.fill(t, n)
	r := b.ask(t, nil)
	b.drain(t, "crm", "lake")
	s := b.service(t)
	testkit.Start(t, s.Run)
	e := b.over(t, r.ID)
	for _, id := range r.Destinations {
		b.once(t, id, r.ID, n)
		if p := e.Parts[id]; p.State != Done || p.Sent != n || len(p.Left) != 0 {
			t.Errorf("%s: %+v", id, p)
		}
	}
	if e.Sent() != 2*n || e.Read() != 2*e.Run.Events() {
		t.Errorf("sent %d, read %d", e.Sent(), e.Read())
	}
}

// TestKilledAgainAndAgain: a run that one process after the other takes from its predecessor,
// in the midst of its work, sends each event once.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	const n, kills = 2_000, 12
	b := newBench(t, "crm", "lake")
	b.fill(t, n)
	r := b.ask(t, func(r *Run) { r.Rate = 100 })
	b.drain(t, "crm", "lake")
	alone := func(set *Settings) { set.Alone = true } // takes the run at once
	stop := func() {}
	for range kills {
		before := b.entry(t, r.ID).Sent()
		next := testkit.Start(t, b.service(t, alone).Run)
		testkit.Until(t, func() bool { return b.entry(t, r.ID).Sent() > before }, "something that was sent")
		stop() // that was fenced, as a rule
		stop = next
	}
	stop()
	o := &Operator{Kafka: b.Options(), Topics: b.topics}
	if _, err := o.Change(t.Context(), r.ID, func(r *Run) error { r.Rate = MaxRate; return nil }); err != nil {
		t.Fatal(err)
	}
	testkit.Start(t, b.service(t, alone).Run)
	b.over(t, r.ID)
	for _, id := range r.Destinations {
		b.once(t, id, r.ID, n)
	}
}
