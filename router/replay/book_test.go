package replay

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

// put takes a value in as the topic has it.
func put(t *testing.T, b *Book, value any, key ...string) {
	t.Helper()
	rec, err := record(value, key...)
	if err == nil {
		err = b.Add(rec)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestStates: what people are told of a run, from the first word to the last.
func TestStates(t *testing.T) {
	t.Parallel()
	b := NewBook()
	r := &Run{Wish: Running, Destinations: []string{"crm", "lake"}, Ranges: map[int32]Offsets{0: {10, 20}, 1: {0, 30}}}
	is := func(want string, read int64) {
		t.Helper()
		e := b.Get("a")
		if e.State() != want || e.Read() != read || e.Over() != (want == "done" || want == "cancelled" && read > 60) {
			t.Errorf("%s with %d read, over: %t; want %s with %d", e.State(), e.Read(), e.Over(), want, read)
		}
	}
	changed := b.Changed()
	put(t, b, r, kindRun, "a")
	<-changed
	is("waiting", 0)
	put(t, b, &Claim{Token: "t"}, kindClaim, "a")
	is("running", 0)
	if _, ok := b.Get("a").Remaining(); ok {
		t.Error("it is known how long it takes before anything was read")
	}
	part := newPart(r, time.Now())
	part.Next[1], part.Sent, part.ActiveMs, part.Left[Copy] = 10, 9, 1000, 1
	before := b.Get("a")
	put(t, b, part, kindPart, "a", "crm")
	is("running", 10)
	if before.Parts["crm"] != nil {
		t.Error("what was handed out has changed")
	}
	if left, ok := b.Get("a").Remaining(); !ok || left != 3*time.Second {
		t.Errorf("%s left, want three times what it took", left)
	}
	part.State, part.Next = Done, map[int32]int64{0: 20, 1: 30}
	put(t, b, part, kindPart, "a", "crm")
	is("running", 40)
	r.Wish = Paused
	put(t, b, r, kindRun, "a")
	is("paused", 40)
	r.Wish = Cancelled
	put(t, b, r, kindRun, "a")
	is("cancelled", 40)
	r.Wish = Running
	put(t, b, r, kindRun, "a") // of somebody who had not seen that
	is("cancelled", 40)
	part.State = Abandoned
	part.Next[1] = 25
	put(t, b, part, kindPart, "a", "lake")
	is("cancelled", 75)
	part.Note = "the log is another one"
	put(t, b, part, kindPart, "a", "lake")
	if e := b.Get("a"); e.State() != "failed" || !e.Over() {
		t.Errorf("%s, over: %t, after it could not go on", e.State(), e.Over())
	}
	if e := b.Get("a"); e.Sent() != 18 || e.Left()[Copy] != 2 {
		t.Errorf("sent %d, left out %v", e.Sent(), e.Left())
	}
}

// TestWhatABookRefuses leaves it as it was; what a later release may add does not.
func TestWhatABookRefuses(t *testing.T) {
	t.Parallel()
	b := NewBook()
	put(t, b, &Run{Wish: Running, Rate: 7}, kindRun, "a")
	for key, value := range map[string]string{
		"": "{}", "run": "{}", "run/A": "{}", "run/a": `{"version":3}`, "part/a/crm": "[", "claim/a": "1",
	} {
		if err := b.Add(&kgo.Record{Key: []byte(key), Value: []byte(value)}); err == nil {
			t.Errorf("%s = %s is taken", key, value)
		}
	}
	if err := b.Add(&kgo.Record{Key: []byte("novelty/a"), Value: []byte(`{}`)}); err != nil {
		t.Error(err)
	}
	if e := b.Get("a"); e.Run.Rate != 7 || len(e.Parts) > 0 || len(b.All()) != 1 {
		t.Errorf("%+v", e)
	}
}

func FuzzBook(f *testing.F) {
	f.Add("run/a", `{"wish":"running","ranges":{"0":{"from":1,"to":2}},"destinations":["crm"]}`)
	f.Add("part/a/crm", `{"state":"open","next":{"0":1},"left":{"copy":1}}`)
	f.Add("claim/a", `{"token":"t","trouble":{"crm":"waits"}}`)
	f.Fuzz(func(t *testing.T, key, value string) {
		b := NewBook()
		put(t, b, &Run{Wish: Running, Destinations: []string{"crm", "lake"}, Ranges: map[int32]Offsets{0: {0, 9}}}, kindRun, "a")
		err := b.Add(&kgo.Record{Key: []byte(key), Value: []byte(value)})
		for _, e := range b.All() {
			if e.State() == "" && err == nil && e.Run.Wish != "" {
				t.Errorf("no state of %+v", e)
			}
			_, _ = e.Remaining()
			_, _, _ = e.Left(), e.Sent(), e.Read()
		}
	})
}

// TestAgenda: a run is taken at once where nobody has it, and when it stands still where
// somebody has; one that fails is left alone for longer each time.
func TestAgenda(t *testing.T) {
	t.Parallel()
	now := time.Now()
	run := func(token string) *Entry {
		return &Entry{Run: Run{ID: "a", Wish: Running, Destinations: []string{"crm"}}, Claim: Claim{Token: token}}
	}
	nobody := func(string) bool { return false }
	a := &agenda{known: make(map[string]*appointment)}
	is := func(what string, e *Entry, after time.Duration, want bool, wait time.Duration) {
		t.Helper()
		if got, left := a.next([]*Entry{e}, nobody, now.Add(after)); (got != nil) != want || left != wait {
			t.Errorf("%s: taken %t, else in %s; want %t, %s", what, got != nil, left, want, wait)
		}
	}
	is("nobody's", run(""), 0, true, 0)
	other := run("other")
	is("somebody's", other, 0, false, standsStill)
	is("somebody's, later", other, standsStill-time.Second, false, time.Second)
	is("that stands still", other, standsStill, true, 0)
	moved := run("other")
	is("that goes on", moved, standsStill, false, standsStill)
	mine := run("")
	a.failed("a", now)
	is("that failed", mine, 0, false, retryAfter)
	is("that failed, later", mine, retryAfter, true, 0)
	a.failed("a", now)
	is("that failed again", mine, retryAfter, false, retryAfter)
	for range 20 {
		a.failed("a", now)
	}
	is("that fails for ever", mine, 0, false, longestPause)
	later := now.Add(time.Hour)
	a.failed("a", later)
	is("that failed long ago", mine, time.Hour, false, retryAfter)
	paused := run("")
	paused.Run.Wish = Paused
	is("paused", paused, 0, false, 0)
	if len(a.known) > 0 {
		t.Errorf("remembers %v", a.known)
	}
	alone := &agenda{alone: true, known: make(map[string]*appointment)}
	if e, _ := alone.next([]*Entry{other}, nobody, now); e == nil {
		t.Error("the only process waits for one that is gone")
	}
	if e, _ := alone.next([]*Entry{other}, func(string) bool { return true }, now); e != nil {
		t.Error("what is in hand is taken")
	}
}

// TestOffsets are sets, compared with maps.
func TestOffsets(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() (*offsets, map[int64]bool) {
		if rng.IntN(5) == 0 {
			return nil, nil
		}
		o, m := &offsets{start: 100}, make(map[int64]bool)
		for range rng.IntN(200) {
			n := 100 + rng.Int64N(int64(1+rng.IntN(500)))
			o.set(n)
			m[n] = true
		}
		return o, m
	}
	for range 200 {
		a, inA := random()
		b, inB := random()
		n := map[string]int64{}
		for i := range int64(700) {
			for name, c := range map[string]struct {
				set  *offsets
				want bool
			}{
				"a":       {a, inA[i]},
				"and":     {a.and(b), inA[i] && inB[i]},
				"or":      {a.or(b), inA[i] || inB[i]},
				"without": {a.without(b), inA[i] && !inB[i]},
			} {
				if c.set.has(i) != c.want {
					t.Fatalf("%s: %d is in it: %t", name, i, !c.want)
				}
				if c.want {
					n[name]++
				}
			}
		}
		for name, set := range map[string]*offsets{"a": a, "and": a.and(b), "or": a.or(b), "without": a.without(b)} {
			if set.len() != n[name] {
				t.Errorf("%s: %d, want %d", name, set.len(), n[name])
			}
		}
	}
}

// TestIDs sort in the order in which runs were made, and may stand in headers and topics.
func TestIDs(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 2, 45, 1, 0, time.UTC)
	first, second := NewID(now), NewID(now.Add(time.Second))
	if !schemas.ValidID(first) || first >= second || NewID(now) == first {
		t.Error(first, second)
	}
	if first[:16] != "20261123-024501-" {
		t.Error(first)
	}
}
