package personas

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// order is an order of who has these ids, each of which may be absent.
func (b *bench) order(user, anonymous string) *kgo.Record {
	return b.of(schemas.TypeTrack, user, anonymous, `"event":"Order","properties":{}`)
}

func (b *bench) alias(user, previous string) *kgo.Record {
	return b.of(schemas.TypeAlias, user, "", fmt.Sprintf(`"previousId":%q`, previous))
}

func (b *bench) of(kind schemas.Type, user, anonymous, members string) *kgo.Record {
	key := user
	if key == "" {
		key = anonymous
	}
	rec := b.call(kind, key, time.Now(), members)
	ids := ""
	if user != "" {
		ids += fmt.Sprintf(`"userId":%q,`, user)
	}
	if anonymous != "" {
		ids += fmt.Sprintf(`"anonymousId":%q,`, anonymous)
	}
	id := fmt.Sprintf("m-%d", b.calls)
	rec.Value = fmt.Appendf(nil, `{"type":%q,"messageId":%q,%s%s,"timestamp":%q,"context":{}}`, kind, id, ids, members, time.Now().UTC().Format(schemas.TimeLayout))
	return rec
}

// belongs is whose an id is by the changelog, and how many orders they have.
func (b *bench) belongs(t *testing.T, d *engine.Definitions, ids ...string) map[string]string {
	t.Helper()
	c, err := engine.Compile(*d)
	if err != nil {
		t.Fatal(err)
	}
	profiles := make(map[string]*engine.Profile)
	for _, rec := range b.all(t, schemas.TopicPersonasChangelog) {
		if changelog.Reserved(string(rec.Key)) {
			continue
		}
		if profiles[string(rec.Key)], err = c.Decode(rec.Value); err != nil {
			t.Fatal(err)
		}
	}
	got := make(map[string]string)
	for _, id := range ids {
		owner := id
		for range len(profiles) {
			if p := profiles[owner]; p != nil && p.Redirect != "" {
				owner = p.Redirect
			}
		}
		p := profiles[owner]
		if p == nil {
			got[id] = owner
			continue
		}
		node, err := c.Explain(p, "orders", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		got[id] = owner + " " + string(node.Value)
	}
	return got
}

// onPartition is an id of a partition.
func onPartition(prefix string, num int32) string {
	for i := 0; ; i++ {
		if id := fmt.Sprintf("%s%d", prefix, i); homeOf(id, partitions) == num {
			return id
		}
	}
}

// TestAnonymousThenIdentified counts what a user did before it was known who that is, and
// what comes of the anonymous id alone afterwards: whichever partitions the ids are on.
func TestAnonymousThenIdentified(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := engine.Definitions{Audiences: []engine.Audience{audience("regulars", "Order", 3, 0)}, Traits: []engine.Trait{counted()}}
		b := newBench(t, testkit.Virtual(t), d)
		b.send(t, b.order("", "before"), b.order("early", "before")) // before there was a stage
		r := b.stage(t, b.virtually)
		start(t, r)
		virtual.Sleep(10 * time.Second)
		ids := []string{"before", "early"}
		want := map[string]string{"before": "early 2", "early": "early 2"}
		for num := range int32(partitions) {
			a, u := onPartition("a", num), onPartition("u", 0)+strconv.Itoa(int(num))
			b.send(t, b.order("", a), b.order("", a))
			virtual.Sleep(3 * time.Second)
			b.send(t, b.order(u, a))
			virtual.Sleep(5 * time.Second)
			b.send(t, b.order("", a))
			virtual.Sleep(5 * time.Second)
			want[a], want[u] = u+" 4", u+" 4"
			ids = append(ids, a, u)
		}
		if diff := cmp.Diff(want, b.belongs(t, &d, ids...)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for user, told := range values(b.heard(t, 1+4*partitions), "regulars") {
			if diff := cmp.Diff([]string{"true"}, told); diff != "" || user[0] != 'u' {
				t.Errorf("%s (-want +got):\n%s", user, diff)
			}
		}
	})
}

// TestUsersAreMerged by aliases alone: in a chain, in a circle, and never by a device that
// they share, of which one user claims so many ids and no more.
func TestUsersAreMerged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := engine.Definitions{Traits: []engine.Trait{counted()}}
		b := newBench(t, testkit.Virtual(t), d)
		start(t, b.stage(t, b.virtually, func(_ *Config, set *Settings) {
			set.AnonymousIDs = func() (int, time.Duration) { return 2, time.Hour }
		}))
		virtual.Sleep(5 * time.Second)
		all := []string{"u", "v", "w", "c1", "c2", "c3", "shared", "x", "y", "d1", "d2", "d3", "z"}
		for _, id := range []string{"u", "v", "w", "c1", "c2", "c3"} {
			b.send(t, b.order(id, ""))
		}
		virtual.Sleep(3 * time.Second)
		b.send(t, b.alias("c1", "c2"), b.alias("c2", "c3"), b.alias("c3", "c1"), b.alias("v", "u"))
		virtual.Sleep(5 * time.Second)
		b.send(t, b.alias("w", "v"), b.order("x", "shared"))
		virtual.Sleep(5 * time.Second)
		b.send(t, b.order("u", ""), b.order("v", ""), b.order("y", "shared")) // the first two are late
		for i := range 3 {
			b.send(t, b.order("z", fmt.Sprintf("d%d", i+1)))
		}
		virtual.Sleep(5 * time.Second)
		b.send(t, b.order("", "shared"), b.order("", "d3"), b.order("c3", ""))
		virtual.Sleep(5 * time.Second)
		got := b.belongs(t, &d, all...)
		want := map[string]string{
			"u": "w 5", "v": "w 5", "w": "w 5", "shared": "x 2", "x": "x 2", "y": "y 1",
			"d1": "z 3", "d2": "z 3", "z": "z 3", "d3": "d3 1",
		}
		circle := got["c1"]
		for _, id := range []string{"c1", "c2", "c3"} {
			want[id] = circle
		}
		if diff := cmp.Diff(want, got); diff != "" || circle[2:] != " 4" {
			t.Errorf("circle %s (-want +got):\n%s", circle, diff)
		}
	})
}

// TestTheDeletionOfAMergedUser forgets all of their ids, whichever of them it names.
func TestTheDeletionOfAMergedUser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := engine.Definitions{Traits: []engine.Trait{counted()}}
		b := newBench(t, testkit.Virtual(t), d)
		start(t, b.stage(t, b.virtually))
		virtual.Sleep(5 * time.Second)
		want := make(map[string]string)
		for i, named := range []string{"u", "v"} {
			u, v, a := fmt.Sprintf("u%d", i), fmt.Sprintf("v%d", i), fmt.Sprintf("a%d", i)
			b.send(t, b.order("", a), b.order(u, a))
			virtual.Sleep(3 * time.Second)
			b.send(t, b.alias(v, u), b.order(v, ""))
			virtual.Sleep(5 * time.Second)
			if diff := cmp.Diff(map[string]string{a: v + " 3"}, b.belongs(t, &d, a)); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			rec := b.track(fmt.Sprintf("%s%d", named, i), "", time.Now())
			kafka.SetHeaders(rec, &schemas.Headers{Source: "website", Type: schemas.TypeDelete, MessageID: "request-website", Origin: schemas.OriginDeletion})
			b.send(t, rec)
			virtual.Sleep(5 * time.Second)
			b.send(t, b.order("", a))
			virtual.Sleep(3 * time.Second)
			want[u], want[v], want[a] = u+" 0", v+" 0", a+" 1"
		}
		if diff := cmp.Diff(want, b.belongs(t, &d, "u0", "v0", "a0", "u1", "v1", "a1")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestMergesExactlyOnce hands users over through kills, wiped stores, aborts and rebalances:
// no call is missing, and none counts twice.
func TestMergesExactlyOnce(t *testing.T) {
	t.Parallel()
	definitions := engine.Definitions{Audiences: []engine.Audience{audience("regulars", "Order", 3, 0)}, Traits: []engine.Trait{counted()}}
	b := newBench(t, testkit.Fake(t, kfake.NumBrokers(1)), definitions)
	b.begun(t)
	random := rand.New(rand.NewPCG(5, 6)) // the same in each run
	refuse := b.refuseSome()
	const rounds, burst, people = 5, 120, 20
	orders := make([]int, people/2) // of two people, who turn out to be one
	var stopped sync.WaitGroup
	defer stopped.Wait()
	for round := range rounds {
		first, cable := b.fragile(t, "first", "")
		stop := start(t, first)
		leave := func() {}
		if round%2 == 0 {
			guest, _ := b.fragile(t, "guest", filepath.Join(t.TempDir(), "store"))
			leave = start(t, guest)
		}
		testkit.Until(t, func() bool { return first.Ready() == nil }, "the first one to be ready")
		refuse.Store(random.Int64N(3))
		for range burst {
			rec := b.someOrder(random, orders)
			b.client.Produce(t.Context(), rec, nil)
		}
		if err := b.client.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := b.toldSoFar(t)
		testkit.Until(t, func() bool { return b.toldSoFar(t) > before }, "something to be told")
		cable.Cut()
		leave()
		stopped.Go(stop)
	}
	last, _ := b.fragile(t, "first", filepath.Join(t.TempDir(), "store"))
	start(t, last)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(last.logs)
		}
	})
	var ids []string
	want := make(map[string]string)
	for i := range people {
		user, anonymous := fmt.Sprintf("u%d", i), fmt.Sprintf("a%d", i)
		if i%2 == 0 { // so that all are merged at last, whatever chance has left out
			b.send(t, b.alias(user, fmt.Sprintf("u%d", i+1)))
		}
		b.send(t, b.order(user, anonymous))
		orders[i/2]++
		ids = append(ids, user, anonymous)
	}
	for i := range people {
		for _, id := range []string{fmt.Sprintf("u%d", i), fmt.Sprintf("a%d", i)} {
			want[id] = fmt.Sprintf("u%d %d", i/2*2, orders[i/2])
		}
	}
	var diff string
	testkit.Until(t, func() bool {
		diff = cmp.Diff(want, b.belongs(t, &definitions, ids...))
		return diff == ""
	}, "each call to count once")
	b.toldOnce(t, "regulars")
}

// toldOnce checks that nobody was told a key twice.
func (b *bench) toldOnce(t *testing.T, key string) {
	t.Helper()
	entered := make(map[string]int)
	for _, rec := range b.all(t, schemas.TopicRawEvents) {
		if h, err := kafka.HeadersOf(rec); err != nil || h.Origin != schemas.OriginPersonas {
			continue
		}
		if change := read(t, rec); change.Key == key {
			entered[change.User]++
		}
	}
	for user, n := range entered {
		if n != 1 {
			t.Errorf("%s was told %s %d times", user, key, n)
		}
	}
}

// someOrder is an order of one of people, or the alias that says who are one. It counts
// the orders of those.
func (b *bench) someOrder(random *rand.Rand, orders []int) *kgo.Record {
	i := random.IntN(2 * len(orders))
	user, anonymous := fmt.Sprintf("u%d", i), fmt.Sprintf("a%d", i)
	n := random.IntN(10)
	if n == 0 {
		return b.alias(fmt.Sprintf("u%d", i/2*2), fmt.Sprintf("u%d", i/2*2+1))
	}
	orders[i/2]++
	if n < 5 {
		return b.order("", anonymous)
	}
	return b.order(user, anonymous)
}
