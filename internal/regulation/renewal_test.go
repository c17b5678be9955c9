package regulation

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// renew reads records into a register as a topic from its start.
func renew(t *testing.T, g *Register, records ...*kgo.Record) (users, requests int) {
	t.Helper()
	take, finish := g.Renew()
	for _, r := range records {
		if err := take(r.Key, r.Value); err != nil {
			t.Fatal(err)
		}
	}
	return finish()
}

// begun returns the records of a request that suppresses and deletes a user.
func begun(t *testing.T, id, user string) (Regulation, []*kgo.Record) {
	t.Helper()
	r := New(SuppressWithDelete, 1, noon)
	r.ID = id
	records, err := creation(&r, []string{user}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, records
}

func unfinished(g *Register) []string {
	var ids []string
	for _, p := range g.Unfinished() {
		ids = append(ids, p.ID)
	}
	return ids
}

// TestWhatANewTopicLacksStaysInForce: a user who is suppressed stays so, and a request
// that was accepted is carried out, although the topic that said so is gone.
func TestWhatANewTopicLacksStaysInForce(t *testing.T) {
	t.Parallel()
	g := NewRegister(nil, nil)
	_, one := begun(t, "one", "u1")
	_, two := begun(t, "two", "u2")
	done, three := begun(t, "three", "u3")
	apply(t, g, slices.Concat(one, two, three, []*kgo.Record{state(t, done.End(Finished, "", noon))})...)

	changed := g.Changed()
	_, four := begun(t, "four", "u4")
	users, requests := renew(t, g, slices.Concat(one, four)...)
	if users != 2 || requests != 1 {
		t.Errorf("the new topic is said to lack %d users and %d requests, expected u2 and u3, and two", users, requests)
	}
	for _, user := range []string{"u1", "u2", "u3", "u4"} {
		if !g.Suppressed.Has([]byte(user)) {
			t.Errorf("%s is suppressed no longer", user)
		}
	}
	if diff := cmp.Diff([]string{"four", "one", "two"}, unfinished(g)); diff != "" {
		t.Errorf("unfinished (-want +got):\n%s", diff)
	}
	if work, ok := g.Work("two"); !ok || !slices.Equal(work.Users, []string{"u2"}) {
		t.Errorf("work left of two: %+v", work)
	}
	select {
	case <-changed:
	default:
		t.Error("nobody was told")
	}
}

// TestATopicReadAgain shows nobody a state of its past, and leaves a run what it has.
func TestATopicReadAgain(t *testing.T) {
	t.Parallel()
	g := NewRegister(nil, nil)
	r, records := begun(t, "one", "u1")
	finished, old := begun(t, "two", "u2")
	log := slices.Concat(records, []*kgo.Record{claim(t, "one", "first"), claim(t, "one", "second")}, old, []*kgo.Record{state(t, finished.End(Finished, "", noon))})
	apply(t, g, log...)

	take, finish := g.Renew()
	for _, record := range log {
		if err := take(record.Key, record.Value); err != nil {
			t.Fatal(err)
		}
		if got := unfinished(g); !slices.Equal(got, []string{"one"}) {
			t.Fatalf("behind %s unfinished are %v", record.Key, got)
		}
	}
	if users, requests := finish(); users != 0 || requests != 0 {
		t.Errorf("the topic is said to lack %d users and %d requests", users, requests)
	}
	if g.token(r.ID) != "second" || g.succeeded(r.ID, "second") || !g.succeeded(r.ID, "first") {
		t.Errorf("the run is %q, succeeded %v", g.token(r.ID), g.succeeded(r.ID, "second"))
	}
	compacted := slices.Concat(records, []*kgo.Record{claim(t, "one", "third")})
	renew(t, g, compacted...)
	if g.token(r.ID) != "third" || !g.succeeded(r.ID, "second") || !g.succeeded(r.ID, "first") {
		t.Error("a run that was succeeded in the meantime is not told")
	}
}

// TestRemovalInANewTopic: who is suppressed by memory alone can still be released.
func TestRemovalInANewTopic(t *testing.T) {
	t.Parallel()
	g := NewRegister(nil, nil)
	_, records := begun(t, "one", "u1")
	apply(t, g, records...)
	renew(t, g)
	release := New(Unsuppress, 1, noon)
	back, err := creation(&release, []string{"u1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, g, back...)
	if g.Suppressed.Has([]byte("u1")) {
		t.Error("still suppressed")
	}
}
