package regulation

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestSuppressionsOfAnEarlierRelease are in force, and can be lifted and made again, as
// those of this one: nothing is written to the topic where they stand.
func TestSuppressionsOfAnEarlierRelease(t *testing.T) {
	t.Parallel()
	g := NewRegister(nil, nil)
	former := New(SuppressOnly, 2, noon)
	records, err := creation(&former, []string{"u1", "u2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, g.Former(), records...)
	var log []*kgo.Record // of the topic regulations
	ask := func(kind Type, users ...string) {
		t.Helper()
		r := New(kind, len(users), noon)
		asked, err := creation(&r, users, &g.Suppressed)
		if err != nil {
			t.Fatal(err)
		}
		apply(t, g, asked...)
		log = append(log, asked...)
	}
	expect := func(g *Register, users ...string) {
		t.Helper()
		var got []string
		for _, id := range []string{"u1", "u2", "u3"} {
			if g.Suppressed.Has([]byte(id)) {
				got = append(got, id)
			}
		}
		if !slices.Equal(got, users) {
			t.Errorf("%v are suppressed, want %v", got, users)
		}
	}
	expect(g, "u1", "u2")
	ask(SuppressOnly, "u3")
	expect(g, "u1", "u2", "u3")
	ask(Unsuppress, "u1", "u3")
	expect(g, "u2")
	if g.Suppressed.Len() != 1 {
		t.Errorf("%d are counted", g.Suppressed.Len())
	}
	ask(SuppressWithDelete, "u1")
	expect(g, "u1", "u2")
	ask(Unsuppress, "u1", "u2")
	expect(g)

	// A process that starts reads both topics, in no order, and of this one what
	// compaction leaves.
	for _, formerFirst := range []bool{true, false} {
		again := NewRegister(nil, nil)
		if formerFirst {
			renew(t, again.Former(), records...)
		}
		if users, requests := renew(t, again, latest(log)...); users+requests != 0 {
			t.Errorf("%d users and %d requests are missing from the other topic", users, requests)
		}
		if !formerFirst {
			renew(t, again.Former(), records...)
		}
		expect(again)
	}
}

// latest returns the last record of each key, without those that remove one.
func latest(log []*kgo.Record) []*kgo.Record {
	var left []*kgo.Record
	for i, r := range log {
		later := slices.ContainsFunc(log[i+1:], func(other *kgo.Record) bool { return string(other.Key) == string(r.Key) })
		if !later && r.Value != nil {
			left = append(left, r)
		}
	}
	return left
}

// TestARequestOfAnEarlierReleaseIsCarriedOn: from where that one came to, in the other
// topic, and whichever of the two is further counts.
func TestARequestOfAnEarlierReleaseIsCarriedOn(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	g := follow(t, c)
	r := New(DeleteOnly, 3, noon)
	records, err := creation(&r, []string{"u1", "u2", "u3"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Status, r.Notified, r.Sources = Running, 1, []string{"website"}
	apply(t, g.Former(), append(records, claim(t, r.ID, "of the earlier release"), state(t, r))...)
	if left := g.Unfinished(); len(left) != 1 || left[0].Notified != 1 {
		t.Fatalf("unfinished: %v", left)
	}
	l := ledger(c)
	run := take(t, l, g, r.ID)
	if w := run.Work(); !w.Complete || w.Notified != 1 || len(w.Users) != 3 {
		t.Fatalf("left to do: %+v", w)
	}
	next := run.Work().Regulation
	next.Notified = 2
	if err := run.Advance(t.Context(), next, events(1)); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, func() bool { w, _ := g.Work(r.ID); return w.Notified == 2 }, "the step to come back")
	apply(t, g.Former(), state(t, r)) // late news of the earlier release
	if w, _ := g.Work(r.ID); w.Notified != 2 || !w.Complete {
		t.Errorf("left to do: %+v", w)
	}
	if err := run.Advance(t.Context(), next.End(Finished, "", noon), events(1)); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, func() bool { return len(g.Unfinished()) == 0 }, "the request to be finished")

	// Another process knows it as finished, though its users' ids are still in the topic
	// `workspace`.
	again := follow(t, c)
	apply(t, again.Former(), append(records, state(t, r))...)
	if left := again.Unfinished(); len(left) != 0 {
		t.Errorf("unfinished once more: %v", left)
	}
	c.ReadAll(t, schemas.TopicRegulations, 5)
}

// TestWhatAnEarlierReleaseFinishes while both run is finished.
func TestWhatAnEarlierReleaseFinishes(t *testing.T) {
	t.Parallel()
	g := NewRegister(nil, nil)
	r := New(DeleteOnly, 2, noon)
	records, err := creation(&r, []string{"u1", "u2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, g.Former(), records...)
	running := r
	running.Status, running.Notified = Running, 1
	apply(t, g, claim(t, r.ID, "now"), state(t, running))
	changed := g.Changed()
	apply(t, g.Former(), state(t, r.End(Finished, "", noon)))
	select {
	case <-changed:
	default:
		t.Error("nobody was told")
	}
	if _, left := g.Work(r.ID); left {
		t.Error("something is left to do")
	}
}
