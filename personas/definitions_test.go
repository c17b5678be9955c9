package personas

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/store"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// values are what each user was told of a key, in order.
func values(all []told, key string) map[string][]string {
	by := make(map[string][]string)
	for _, change := range all {
		if change.Key == key {
			by[change.User] = append(by[change.User], change.Value)
		}
	}
	return by
}

// each is the same for users u0, u1, … of which every so many-th is meant.
func each(users, step int, values ...string) map[string][]string {
	by := make(map[string][]string)
	for i := 0; i < users; i += step {
		by[fmt.Sprintf("u%d", i)] = values
	}
	return by
}

// TestTheFirstStart: whoever is a member by what the log holds already is told so once, and
// nothing of how they became one.
func TestTheFirstStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const users = 30
		b := newBench(t, testkit.Virtual(t), engine.Definitions{
			Audiences: []engine.Audience{audience("recent", "Order", 2, time.Hour)}, Traits: []engine.Trait{counted()},
		})
		for i := range users {
			for range 1 + i%2 {
				b.send(t, b.track(fmt.Sprintf("u%d", i), "Order", time.Now()))
			}
		}
		start(t, b.stage(t, b.virtually))
		virtual.Sleep(20 * time.Second)
		all := b.heard(t, users+users/2)
		want := each(users, 1, "1")
		for i := 1; i < users; i += 2 {
			want[fmt.Sprintf("u%d", i)] = []string{"2"}
		}
		if diff := cmp.Diff(want, values(all, "orders")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got := values(all, "recent"); len(got) != users/2 || !slices.Equal(got["u1"], []string{"true"}) {
			t.Errorf("members: %v", got)
		}
	})
}

// TestDefinitionsComeAndGo beside live traffic: each member of a new audience is told once,
// an edit tells the difference alone, and of a deleted one its members may be told.
func TestDefinitionsComeAndGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const users = 40
		b := newBench(t, testkit.Virtual(t), engine.Definitions{})
		start(t, b.stage(t, b.virtually))
		virtual.Sleep(5 * time.Second)
		round := func() { // u0 orders once in a round, u1 twice, u2 never
			for i := range users {
				for range []int{1, 2, 0, 1}[i%4] {
					b.send(t, b.track(fmt.Sprintf("u%d", i), "Order", time.Now()))
				}
			}
		}
		round()
		buyers := audience("buyers", "Order", 3, 0)
		b.definitions.Store(&engine.Definitions{Audiences: []engine.Audience{buyers}})
		round() // while the log is read once more
		virtual.Sleep(20 * time.Second)
		n := users / 4
		want := make(map[string][]string)
		for i := 1; i < users; i += 4 {
			want[fmt.Sprintf("u%d", i)] = []string{"true"}
		}
		if diff := cmp.Diff(want, values(b.heard(t, n), "buyers")); diff != "" {
			t.Fatalf("made (-want +got):\n%s", diff)
		}

		edited := audience("buyers", "Order", 2, 0)
		edited.Version = 2
		b.definitions.Store(&engine.Definitions{Audiences: []engine.Audience{edited}})
		virtual.Sleep(20 * time.Second)
		n += users / 2
		for i := range users {
			if i%4 == 0 || i%4 == 3 {
				want[fmt.Sprintf("u%d", i)] = []string{"true"}
			}
		}
		if diff := cmp.Diff(want, values(b.heard(t, n), "buyers")); diff != "" {
			t.Fatalf("edited (-want +got):\n%s", diff)
		}

		off := edited
		off.Enabled, off.Version = false, 3
		b.definitions.Store(&engine.Definitions{Audiences: []engine.Audience{off}})
		virtual.Sleep(10 * time.Second)
		b.send(t, b.track("u2", "Order", time.Now()), b.track("u2", "Order", time.Now()))
		virtual.Sleep(10 * time.Second)
		b.heard(t, n)
		edited.Version = 4
		b.definitions.Store(&engine.Definitions{Audiences: []engine.Audience{edited}})
		virtual.Sleep(20 * time.Second)
		n++
		want["u2"] = []string{"true"}
		if diff := cmp.Diff(want, values(b.heard(t, n), "buyers")); diff != "" {
			t.Fatalf("disabled and enabled (-want +got):\n%s", diff)
		}

		gone := edited
		gone.Deleted, gone.OnDelete = true, definition.OnDeleteExit
		b.definitions.Store(&engine.Definitions{Audiences: []engine.Audience{gone}})
		virtual.Sleep(20 * time.Second)
		for user := range want {
			want[user] = []string{"true", "false"}
		}
		if diff := cmp.Diff(want, values(b.heard(t, n+len(want)), "buyers")); diff != "" {
			t.Errorf("deleted (-want +got):\n%s", diff)
		}
	})
}

// TestABacklogEndsNothing: what a stage that was away has not read yet may be what keeps a
// user in an audience.
func TestABacklogEndsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Audiences: []engine.Audience{audience("active", "Visit", 1, time.Minute)}})
		b.begun(t, b.virtually)
		for range 20 {
			b.send(t, b.track("u", "Visit", time.Now()))
			virtual.Sleep(30 * time.Second)
		}
		b.send(t, b.track("u", "Visit", time.Now()))
		stop := start(t, b.stage(t, b.virtually))
		virtual.Sleep(10 * time.Second)
		if diff := cmp.Diff(map[string][]string{"u": {"true"}}, values(b.heard(t, 1), "active")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		stop()
		virtual.Sleep(time.Hour)
		b.heard(t, 1) // a stage that stands still ends none
		start(t, b.stage(t, b.virtually))
		virtual.Sleep(10 * time.Second)
		b.heard(t, 2)
	})
}

// TestAStateThatDoesNotFit refuses the assignment: what it lacks would be told again.
func TestAStateThatDoesNotFit(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t), engine.Definitions{Traits: []engine.Trait{counted()}})
	b.begun(t)
	stale := changelog.Meta{Internal: 1 << 20, Time: 1}
	writer := b.Client(t, manual())
	for num := range int32(partitions) {
		if err := writer.ProduceSync(t.Context(), stale.Record(num)).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	r := b.stage(t)
	start(t, r)
	b.send(t, b.track("u", "Order", time.Now()))
	testkit.Until(t, func() bool { return r.logs.Count("expected them to be equal") > 0 }, "the assignment to be refused")
	if r.Ready() == nil {
		t.Error("the stage is ready")
	}
	if n := testutil.ToFloat64(r.processor.metrics.restores.WithLabelValues(refused)); n == 0 {
		t.Error("the refusal is not counted")
	}
	b.heard(t, 0)
}

// TestARecordThatCantBeRead keeps its partition from being processed, and is named: without it
// what was told would be told again.
func TestARecordThatCantBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t), engine.Definitions{Traits: []engine.Trait{counted()}})
	b.begun(t)
	if err := b.Client(t, manual()).ProduceSync(t.Context(), changelog.User(1, "u", []byte("broken"))).FirstErr(); err != nil {
		t.Fatal(err)
	}
	r := b.stage(t)
	start(t, r)
	testkit.Until(t, func() bool { return r.logs.Count(`record of user \"u\" at personas-changelog[1]`) > 0 }, "the record to be named")
	if testutil.ToFloat64(r.processor.metrics.unreadable) == 0 || r.Ready() == nil {
		t.Error("it is not counted, or the stage is ready")
	}
}

// TestADeletion forgets a user, once for all notifications of a request.
func TestADeletion(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t), engine.Definitions{Traits: []engine.Trait{counted()}})
	b.begun(t)
	start(t, b.stage(t))
	order := func() { b.send(t, b.track("u", "Order", time.Now())) }
	order()
	order()
	for _, source := range []string{"website", "app"} {
		rec := b.track("u", "", time.Now())
		id := "request-" + source
		kafka.SetHeaders(rec, &schemas.Headers{Source: source, Type: schemas.TypeDelete, MessageID: id, Origin: schemas.OriginDeletion})
		b.send(t, rec)
		if source == "website" {
			order()
		}
	}
	order()
	if diff := cmp.Diff(map[string][]string{"u": {"1", "2", "1", "2"}}, values(b.heard(t, 4), "orders")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAStoreThatFails ends the stage, which does not go on from half a state, nor try for
// ever; the next one tells what this one did not.
func TestAStoreThatFails(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t), engine.Definitions{Traits: []engine.Trait{counted()}})
	b.begun(t)
	r := b.stage(t)
	full := errors.New("no space left on device")
	failing := &failingStore{Store: store.NewMemory(), err: full}
	r.processor.store.Store = failing
	ended := make(chan error, 1)
	go func() { ended <- r.Run(t.Context()) }()
	b.send(t, b.track("u", "Order", time.Now()))
	b.heard(t, 1)
	failing.fails.Store(true)
	b.send(t, b.track("u", "Order", time.Now()))
	if err := <-ended; !errors.Is(err, full) {
		t.Errorf("the stage ended with %v, expected %v", err, full)
	}
	if testutil.ToFloat64(r.processor.metrics.broken) != 1 {
		t.Error("its metrics do not tell")
	}
	start(t, b.stage(t))
	b.send(t, b.track("u", "Order", time.Now()))
	if diff := cmp.Diff(map[string][]string{"u": {"1", "2", "3"}}, values(b.heard(t, 3), "orders")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// failingStore is a store that takes no more writes, once it is told to.
type failingStore struct {
	store.Store

	fails atomic.Bool
	err   error
}

func (s *failingStore) Apply(b *store.Batch) error {
	if s.fails.Load() {
		return s.err
	}
	return s.Store.Apply(b)
}

// TestALogThatLostWhatWasUnread: the clock does not wait for calls that are gone.
func TestALogThatLostWhatWasUnread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Audiences: []engine.Audience{audience("active", "Visit", 1, time.Minute)}})
		b.begun(t, b.virtually)
		stop := start(t, b.stage(t, b.virtually))
		visit := b.track("u", "Visit", time.Now())
		for i := 0; visit.Partition != 0 || i == 0; i++ {
			visit = b.track(fmt.Sprintf("u%d", i), "Visit", time.Now())
			b.send(t, visit)
		}
		members := b.calls - 1
		b.calls = members // one was not sent
		virtual.Sleep(5 * time.Second)
		b.heard(t, members)
		stop()
		unread := b.track(string(visit.Key), "Other", time.Now())
		b.send(t, unread)
		b.DeleteBefore(t, schemas.TopicRawEvents, unread.Offset+1)
		start(t, b.stage(t, b.virtually))
		virtual.Sleep(2 * time.Minute)
		if n := b.exits(t); n != members {
			t.Errorf("%d of %d were told to have left", n, members)
		}
	})
}

// exits is how many exits there are in what is left of the log.
func (b *bench) exits(t *testing.T) (n int) {
	t.Helper()
	for _, rec := range b.all(t, schemas.TopicRawEvents) {
		if h, err := kafka.HeadersOf(rec); err == nil && h.Origin == schemas.OriginPersonas {
			if change := read(t, rec); change.Value == "false" {
				n++
			}
		}
	}
	return n
}

// TestWhatIsNewWaitsForWhatIsOverdue: of a definition that is ready while timers wait,
// nothing is told of the time before.
func TestWhatIsNewWaitsForWhatIsOverdue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const users = 6000
		short := audience("short", "Visit", 1, time.Minute)
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Audiences: []engine.Audience{short}})
		b.begun(t, b.virtually)
		stop := start(t, b.stage(t, b.virtually))
		var records []*kgo.Record
		for i := range users {
			user := fmt.Sprintf("u%d", i)
			records = append(records, b.track(user, "Visit", time.Now()), b.track(user, "Order", time.Now()))
		}
		b.send(t, records...)
		virtual.Sleep(5 * time.Second)
		stop()
		virtual.Sleep(time.Hour)
		b.definitions.Store(&engine.Definitions{Audiences: []engine.Audience{short, audience("long", "Order", 1, 2*time.Minute)}})
		start(t, b.stage(t, b.virtually))
		virtual.Sleep(time.Minute)
		all := b.heard(t, 2*users)
		if got := values(all, "long"); len(got) > 0 {
			t.Errorf("%d users were told of the time before", len(got))
		}
	})
}
