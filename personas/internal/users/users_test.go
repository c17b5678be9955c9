package users

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/enginetest"
	"github.com/anabranch/anabranch/personas/internal/store"
	"github.com/anabranch/anabranch/schemas"
)

var begin = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// of are the users of a partition, of whom each is a member for a minute after an event.
func of(t *testing.T, s store.Store) (*Users, *engine.Catalogue) {
	t.Helper()
	did := &definition.Did{
		Event: definition.Event{Type: definition.Track, Name: "Visit", Window: definition.Window{Kind: definition.Within, Far: time.Minute}},
		Take:  definition.Count, Is: definition.Test{{Op: definition.Gte, Values: []definition.Value{{Kind: definition.Number, Number: 1}}}},
	}
	common := definition.Common{ID: "active", Enabled: true, History: definition.History{Full: true}, Send: definition.SendIdentify}
	c, err := engine.Compile(engine.Definitions{Audiences: []engine.Audience{
		{Audience: definition.Audience{Common: common, When: definition.Cond{Leaf: &definition.Leaf{Did: did}}}, Version: 1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	u := New(1, s)
	u.Keep(4 << 10)
	u.Use(c)
	return u, c
}

func visit(t *testing.T, u *Users, c *engine.Catalogue, id string, at time.Time) *User {
	t.Helper()
	one, err := u.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	c.Take(one.Profile, &engine.Call{Type: schemas.TypeTrack, Name: "Visit", UserID: id, At: at, Received: at}, at, nil)
	return one
}

func commit(t *testing.T, u *Users, s store.Store) (written int) {
	t.Helper()
	u.Changed(func(string, []byte) { written++ })
	var batch store.Batch
	u.Commit(&batch)
	batch.SetCheckpoint(1, []byte("{}"))
	if err := s.Apply(&batch); err != nil {
		t.Fatal(err)
	}
	return written
}

// due are the users whose timers fire at a time.
func due(t *testing.T, u *Users, at time.Time) (ids []string) {
	t.Helper()
	some, _, err := u.Due(at, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range some {
		ids = append(ids, one.ID)
	}
	return ids
}

func TestAbandon(t *testing.T) {
	t.Parallel()
	s := store.NewMemory()
	u, c := of(t, s)
	visit(t, u, c, "a", begin)
	visit(t, u, c, "b", begin)
	if n := commit(t, u, s); n != 2 {
		t.Errorf("%d users were written", n)
	}
	want := visit(t, u, c, "a", begin).Profile.Due()
	visit(t, u, c, "a", begin.Add(30*time.Second))
	due(t, u, begin.Add(time.Hour))
	u.Abandon()
	one, err := u.Get("a")
	if err != nil || !one.Profile.Due().Equal(want) {
		t.Errorf("due at %s, want %s: %v", one.Profile.Due(), want, err)
	}
	if ids := due(t, u, begin.Add(time.Hour)); len(ids) != 2 {
		t.Errorf("timers of %v are left", ids)
	}
}

func TestTimersMoveLater(t *testing.T) {
	t.Parallel()
	s := store.NewMemory()
	u, c := of(t, s)
	visit(t, u, c, "a", begin)
	commit(t, u, s)
	visit(t, u, c, "a", begin.Add(30*time.Second))
	commit(t, u, s)
	now := begin.Add(time.Minute)
	if timers, err := s.Due(1, store.Timer{}, begin.Add(time.Hour), 10); err != nil || len(timers) != 1 || timers[0].Due.After(now) {
		t.Errorf("timers: %v, %v, want the first one alone", timers, err)
	}
	some, _, err := u.Due(now, 10)
	if err != nil || len(some) != 1 {
		t.Fatalf("%v, %v", some, err)
	}
	if changes := c.Advance(some[0].Profile, now, nil, engine.CauseTimer); len(changes) > 0 {
		t.Errorf("%v", changes)
	}
	commit(t, u, s)
	if ids := due(t, u, begin.Add(80*time.Second)); len(ids) != 0 {
		t.Errorf("%v are due too early", ids)
	}
	if ids := due(t, u, begin.Add(90*time.Second)); len(ids) != 1 {
		t.Error("the timer was not set anew")
	}
}

// TestLook goes through all users, and writes those again whose records would differ.
func TestLook(t *testing.T) {
	t.Parallel()
	s := store.NewMemory()
	u, c := of(t, s)
	for _, id := range []string{"a", "b", "c"} {
		visit(t, u, c, id, begin)
	}
	commit(t, u, s)
	some, next, err := u.Look(nil, 2)
	if err != nil || len(some) != 2 || string(next) != "c" {
		t.Fatalf("%v, next %q: %v", some, next, err)
	}
	if n := commit(t, u, s); n != 0 {
		t.Errorf("%d users were written by the same definitions", n)
	}
	none, err := engine.Compile(engine.Definitions{})
	if err != nil {
		t.Fatal(err)
	}
	u.Use(none)
	if some, next, err = u.Look(next, 2); err != nil || len(some) != 1 || next != nil {
		t.Fatalf("%v, next %q: %v", some, next, err)
	}
	if n := commit(t, u, s); n != 1 {
		t.Error("what no definition needs was kept")
	}
}

// TestKeptUsersAreBounded by what they take, and those go that were not used for longest.
func TestKeptUsersAreBounded(t *testing.T) {
	t.Parallel()
	const bound = 100 << 10
	s := store.NewMemory()
	u, c := of(t, s)
	u.Keep(bound)
	for i := range 1000 {
		visit(t, u, c, "often", begin)
		visit(t, u, c, strconv.Itoa(i), begin)
		commit(t, u, s)
		size := 0
		for _, generation := range []map[string]*User{u.young, u.old} {
			for _, one := range generation {
				size += one.size()
			}
		}
		if size > bound || i == 999 && size < bound/4 {
			t.Fatalf("after %d users: %d bytes are kept", i, size)
		}
		if u.young["often"] == nil && u.old["often"] == nil {
			t.Fatalf("after %d users: one who is used all the time is not kept", i)
		}
	}
}

// BenchmarkKept says what a user takes who is kept decoded, and what is counted for them.
func BenchmarkKept(b *testing.B) {
	for _, calls := range []int{1, 20, 100} {
		b.Run(fmt.Sprintf("calls=%d", calls), func(b *testing.B) {
			c, err := engine.Compile(enginetest.Shop(20))
			if err != nil {
				b.Fatal(err)
			}
			s := store.NewMemory()
			const n = 2000
			for b.Loop() {
				u := New(1, s)
				u.Keep(1 << 30)
				u.Use(c)
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				var call engine.Call
				for i := range n {
					id := fmt.Sprint("user-", i)
					one, err := u.Get(id)
					if err != nil {
						b.Fatal(err)
					}
					for k := range calls {
						at := begin.Add(time.Duration(k) * time.Hour)
						if err = engine.ParseCall(&call, enginetest.Visit(k, id, at), enginetest.VisitHeaders, at); err != nil {
							b.Fatal(err)
						}
						c.Take(one.Profile, &call, at, nil)
					}
					u.Changed(func(string, []byte) {})
					var batch store.Batch
					u.Commit(&batch)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "heap-B/user")
				b.ReportMetric(float64(u.size)/n, "counted-B/user")
				b.ReportMetric(float64(u.young["user-1"].record), "record-B")
			}
		})
	}
}
