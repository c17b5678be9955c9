package regulation

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

func apply(t *testing.T, g *Register, records ...*kgo.Record) {
	t.Helper()
	for _, r := range records {
		if err := g.Apply(r.Key, r.Value); err != nil {
			t.Fatal(err)
		}
	}
}

func state(t *testing.T, r Regulation) *kgo.Record {
	t.Helper()
	record, err := r.record()
	if err != nil {
		t.Fatal(err)
	}
	return record
}

func claim(t *testing.T, id, token string) *kgo.Record {
	t.Helper()
	record, err := newRecord(kindRun, id, runRecord{token})
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// TestALife follows a register through all that becomes of one regulation.
func TestALife(t *testing.T) {
	t.Parallel()
	g := NewRegister(nil, nil)
	r := New(DeleteOnly, 2, noon)
	r.ID = "a"
	records, err := creation(&r, []string{"u1", "u2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, g, records...)
	unfinished := func(want ...Progress) {
		t.Helper()
		if diff := cmp.Diff(append([]Progress{}, want...), g.Unfinished()); diff != "" {
			t.Errorf("unfinished (-want +got):\n%s", diff)
		}
	}
	unfinished(Progress{"a", Initialized, 0, ""})

	apply(t, g, claim(t, "a", "one"))
	unfinished(Progress{"a", Initialized, 0, "one"})
	if g.token("a") != "one" || g.token("b") != "" {
		t.Errorf("tokens %q, %q", g.token("a"), g.token("b"))
	}

	r.Status, r.Notified, r.Sources = Running, 1, []string{"website"}
	apply(t, g, state(t, r))
	unfinished(Progress{"a", Running, 1, "one"})

	r = r.End(Finished, "", noon.Add(time.Second))
	apply(t, g, state(t, r))
	unfinished()
	if _, ok := g.Work("a"); ok {
		t.Error("a finished regulation has work")
	}
	apply(t, g, removal("a", []int{0})...)
	if got, ok := g.Get("a"); !ok || !got.FinishedAt.Equal(noon.Add(time.Second)) {
		t.Errorf("got %+v, %v", got, ok)
	}
	record, _ := newRecord(kindRegulation, "a", nil)
	apply(t, g, record)
	if _, ok := g.Get("a"); ok || len(g.entries) != 0 {
		t.Error("a removed regulation is still there")
	}
}

// TestRemovalLeavesNothing: what a compacted topic has left of an old regulation
// takes no memory.
func TestRemovalLeavesNothing(t *testing.T) {
	t.Parallel()
	g := NewRegister(nil, nil)
	apply(t, g, removal("a", []int{0, 1, 2})...)
	if len(g.entries) != 0 {
		t.Errorf("%d entries", len(g.entries))
	}
}

func TestWorkThatMissesUsers(t *testing.T) {
	t.Parallel()
	g := NewRegister(nil, nil)
	r := New(DeleteOnly, 2, noon)
	apply(t, g, state(t, r))
	if work, ok := g.Work(r.ID); !ok || work.Complete {
		t.Errorf("got %+v, %v", work, ok)
	}
}

func TestUnfinishedOldestFirst(t *testing.T) {
	t.Parallel()
	g := NewRegister(nil, nil)
	for _, c := range []struct {
		id    string
		after time.Duration
	}{{"c", 2 * time.Second}, {"b", time.Second}, {"a", 2 * time.Second}} {
		r := New(DeleteOnly, 1, noon.Add(c.after))
		r.ID = c.id
		apply(t, g, state(t, r))
	}
	var ids []string
	for _, p := range g.Unfinished() {
		ids = append(ids, p.ID)
	}
	if diff := cmp.Diff([]string{"b", "a", "c"}, ids); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// TestAllLatestFirst: what is over is listed too, and what earlier releases wrote.
func TestAllLatestFirst(t *testing.T) {
	t.Parallel()
	g := NewRegister(nil, nil)
	for i, one := range []struct {
		to *Register
		id string
	}{{g, "b"}, {g.Former(), "c"}, {g, "a"}} {
		r := New(DeleteOnly, 1, noon.Add(time.Duration(i)*time.Second))
		r.ID, r.Status = one.id, Finished
		apply(t, one.to, state(t, r))
	}
	apply(t, g, state(t, Regulation{ID: "d", Type: SuppressOnly, Status: Failed, CreatedAt: noon.Add(time.Second)}))
	var ids []string
	for _, r := range g.All() {
		ids = append(ids, r.ID)
	}
	if diff := cmp.Diff([]string{"a", "c", "d", "b"}, ids); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// TestALaterVersionIsLeftToItsRelease: what was known of a request stays, and a
// suppression counts whatever else its record says.
func TestALaterVersionIsLeftToItsRelease(t *testing.T) {
	t.Parallel()
	g := NewRegister(nil, nil)
	r := Regulation{ID: "r1", Type: DeleteOnly, Status: Running, Subjects: 1, CreatedAt: time.UnixMilli(1_700_000_000_000).UTC()}
	record, err := r.record()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Apply(record.Key, record.Value); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"regulation/r1", "regulation-subjects/r1-0", "regulation-run/r1"} {
		var later *schemas.VersionError
		if err := g.Apply([]byte(kind), []byte(`{"version":2,"status":"PAUSED","type":"DELETE_ONLY","subjects":["u"],"token":"t"}`)); !errors.As(err, &later) {
			t.Errorf("%s: %v, want the version", kind, err)
		}
	}
	if got, ok := g.Get("r1"); !ok || got.Status != Running {
		t.Errorf("the request is %+v, %v", got, ok)
	}
	hash := hashOf([]byte("u"))
	if err := g.Apply([]byte("suppression/"+hash.String()), []byte(`{"version":2}`)); err != nil || !g.Suppressed.Has([]byte("u")) {
		t.Errorf("a suppression of a later version: %v, in force %v", err, g.Suppressed.Has([]byte("u")))
	}
}

// TestAClaimThatWasOvertaken: another one stands behind it before its process has
// looked. That one waits for no token that will not come back.
func TestAClaimThatWasOvertaken(t *testing.T) {
	t.Parallel()
	g := NewRegister(nil, nil)
	r := New(DeleteOnly, 2, noon)
	apply(t, g, state(t, r), claim(t, r.ID, "ours"), claim(t, r.ID, "another's"))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	ours := &Run{id: r.ID, token: "ours", register: g}
	if err := ours.await(ctx); !errors.Is(err, ErrTakenOver) {
		t.Errorf("the first was told: %v", err)
	}
	last := &Run{id: r.ID, token: "another's", register: g}
	if err := last.await(ctx); err != nil || last.Work().ID != r.ID {
		t.Errorf("the last one was told: %v, work %+v", err, last.Work())
	}
}
