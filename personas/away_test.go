package personas

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestDefinitionsChangeWhileTheStageIsAway, at any instant, and calls may come meanwhile.
// What did not change is told of each instant at which it was due, as if the stage had been
// there, and what did is told of the time since: at most one difference.
func TestDefinitionsChangeWhileTheStageIsAway(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := newAbsence(t, seed)
				for range 3 {
					a.present(t)
					a.absent(t)
				}
				a.present(t)
				a.compare(t)
			})
		})
	}
}

// absence is a stage that is there and away by turns, beside an oracle that has the list of
// all visits. Visits are made on the minute, windows end 20 seconds past it, and the stage
// goes 40 seconds past it and comes 30 seconds past it.
type absence struct {
	*bench
	*rand.Rand

	defined []engine.Audience
	inForce []engine.Audience
	visits  map[string][]time.Time
	clock   time.Time // up to when the oracle has looked
	told    map[string]bool
	want    map[string][]expected
	n       int
}

// expected is a change that is to be told of an instant from since until until.
type expected struct {
	member       bool
	since, until time.Time
}

func (e expected) String() string {
	return fmt.Sprintf("%t at %s to %s", e.member, e.since.Format(time.TimeOnly), e.until.Format(time.TimeOnly))
}

func newAbsence(t *testing.T, seed uint64) *absence {
	t.Helper()
	a := &absence{
		Rand: rand.New(rand.NewPCG(seed, 11)), visits: make(map[string][]time.Time), told: make(map[string]bool),
		want: make(map[string][]expected), clock: time.Now(),
	}
	for range 2 {
		a.edit()
	}
	a.bench = newBench(t, testkit.Virtual(t), engine.Definitions{Audiences: slices.Clone(a.defined)})
	return a
}

// edit makes an audience, or changes or switches one.
func (a *absence) edit() {
	made := func(id string, version int) engine.Audience {
		one := audience(id, "Visit", float64(1+a.IntN(3)), time.Duration(1+a.IntN(6))*time.Minute+20*time.Second)
		one.Version = version
		return one
	}
	if len(a.defined) < 2 || a.IntN(3) == 0 {
		a.defined = append(a.defined, made("a"+strconv.Itoa(len(a.defined)), 1))
		return
	}
	i := a.IntN(len(a.defined))
	was := a.defined[i]
	a.defined[i] = made(was.ID, was.Version+1)
	a.defined[i].Enabled = a.IntN(4) > 0
}

func (a *absence) until(seconds int) {
	next := time.Now().Truncate(time.Minute).Add(time.Duration(seconds) * time.Second)
	if !next.After(time.Now()) {
		next = next.Add(time.Minute)
	}
	virtual.Sleep(time.Until(next))
}

// pass lets so many minutes pass, with some visits.
func (a *absence) pass(t *testing.T, minutes int) {
	t.Helper()
	for range minutes {
		a.until(0)
		now := time.Now()
		for range a.IntN(4) {
			user := fmt.Sprint("u", a.IntN(6))
			a.visits[user] = append(a.visits[user], now)
			a.send(t, a.track(user, "Visit", now))
		}
	}
}

// present has the stage run for some minutes.
func (a *absence) present(t *testing.T) {
	t.Helper()
	a.until(30)
	came := time.Now()
	a.look(came)
	a.inForce = slices.DeleteFunc(slices.Clone(a.defined), func(one engine.Audience) bool { return !one.Enabled })
	for user := range a.visits {
		a.judge(user, came, came.Add(25*time.Second))
	}
	stop := start(t, a.stage(t, a.virtually))
	a.pass(t, 1+a.IntN(4))
	a.until(40)
	stop()
}

// absent has definitions change while the stage is away.
func (a *absence) absent(t *testing.T) {
	t.Helper()
	a.look(time.Now())
	a.pass(t, a.IntN(4))
	virtual.Sleep(time.Duration(a.IntN(240)) * time.Second)
	for range 1 + a.IntN(2) {
		a.edit()
	}
	a.definitions.Store(&engine.Definitions{Audiences: slices.Clone(a.defined)})
	virtual.Sleep(time.Duration(a.IntN(240)) * time.Second)
	a.pass(t, a.IntN(3))
	a.inForce = slices.DeleteFunc(a.inForce, func(one engine.Audience) bool {
		return !slices.ContainsFunc(a.defined, func(now engine.Audience) bool { return now.ID == one.ID && now.Version == one.Version })
	})
}

// look has the oracle look at each instant at which something may change, up to now.
func (a *absence) look(now time.Time) {
	for at := a.clock.Truncate(20 * time.Second).Add(20 * time.Second); !at.After(now); at = at.Add(20 * time.Second) {
		for user := range a.visits {
			a.judge(user, at, at)
		}
	}
	a.clock = now
}

// judge compares what is true of a user with what they were told.
func (a *absence) judge(user string, at, until time.Time) {
	for i := range a.inForce {
		one := &a.inForce[i]
		did := one.When.Leaf.Did
		n := 0.0
		for _, visit := range a.visits[user] {
			if visit.After(at.Add(-did.Event.Window.Far)) && !visit.After(at) {
				n++
			}
		}
		of := user + " " + one.ID
		if member := n >= did.Is[0].Values[0].Number; member != a.told[of] {
			a.told[of] = member
			a.want[of] = append(a.want[of], expected{member, at, until})
			a.n++
		}
	}
}

func (a *absence) compare(t *testing.T) {
	t.Helper()
	a.look(time.Now())
	got := make(map[string][]told)
	for _, rec := range a.all(t, schemas.TopicRawEvents) {
		if h, err := kafka.HeadersOf(rec); err == nil && h.Origin == schemas.OriginPersonas {
			change := read(t, rec)
			of := change.User + " " + change.Key
			got[of] = append(got[of], change)
		}
	}
	for of := range got {
		a.want[of] = slices.Clip(a.want[of]) // of what was not expected too
	}
	for of, want := range a.want {
		fits := len(got[of]) == len(want)
		for i := 0; fits && i < len(want); i++ {
			change := got[of][i]
			fits = change.Value == strconv.FormatBool(want[i].member) && !change.At.Before(want[i].since) && !change.At.After(want[i].until)
		}
		if !fits {
			t.Errorf("%s was told\n%v, expected\n%v", of, got[of], want)
		}
	}
	if a.n < 10 {
		t.Errorf("%d changes prove nothing", a.n)
	}
}
