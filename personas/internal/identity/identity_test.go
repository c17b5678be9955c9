package identity_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/identity"
	"github.com/anabranch/anabranch/personas/internal/message"
	"github.com/anabranch/anabranch/schemas"
)

var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// world has owners of ids who send each other messages, which wait until they are
// delivered: in order between any two owners, and else in whatever order.
type world struct {
	tb       testing.TB
	c        *engine.Catalogue
	bound    identity.Bound
	owners   int
	profiles map[string]*engine.Profile
	queues   map[[2]int][]sent
	counts   map[string]int
	offset   int64
}

type sent struct {
	to   string
	m    message.Message
	call engine.Call
}

func newWorld(tb testing.TB, owners int) *world {
	tb.Helper()
	orders := engine.Trait{Version: 1, Trait: definition.Trait{
		Common: definition.Common{ID: "orders", Name: "orders", Enabled: true, History: definition.History{Full: true}, Send: definition.SendIdentify},
		Take:   definition.Count, Event: definition.Event{Type: definition.Track, Name: "Order"},
	}}
	c, err := engine.Compile(engine.Definitions{Traits: []engine.Trait{orders}})
	if err != nil {
		tb.Fatal(err)
	}
	return &world{
		tb: tb, c: c, bound: identity.Bound{Max: 100, Per: time.Hour}, owners: owners,
		profiles: make(map[string]*engine.Profile), queues: make(map[[2]int][]sent), counts: make(map[string]int),
	}
}

func (w *world) owner(id string) int { return int(id[len(id)-1]) % w.owners }

func (w *world) profile(id string) *engine.Profile {
	if w.profiles[id] == nil {
		w.profiles[id] = w.c.NewProfile()
	}
	return w.profiles[id]
}

// as decides for an id.
func (w *world) as(id string) *identity.Identity {
	return &identity.Identity{
		Catalogue: w.c, Bound: w.bound, Count: func(result string) { w.counts[result]++ },
		Send: func(to string, m *message.Message) { w.send(id, sent{to: to, m: *m}) },
	}
}

func (w *world) send(from string, s sent) {
	between := [2]int{w.owner(from), w.owner(s.to)}
	w.queues[between] = append(w.queues[between], s)
}

// call takes a call: of an order, or of what the ids say.
func (w *world) call(c engine.Call) {
	w.offset++
	c.Offset, c.At = w.offset, begin.Add(time.Duration(w.offset)*time.Second)
	c.Received = c.At
	id := c.UserID
	if id == "" {
		id = c.AnonymousID
	}
	w.take(id, sent{call: c})
}

func (w *world) take(id string, s sent) {
	p := w.profile(id)
	if p.Redirect != "" {
		if s.m.Hops++; s.m.Hops > message.MaxHops {
			w.tb.Fatalf("a call of %s was given up", id)
		}
		s.m.Kind, s.to = message.Forward, p.Redirect
		w.send(id, s)
		return
	}
	w.c.Fold(p, &s.call, nil)
	for _, claim := range identity.Claims(&s.call) {
		w.as(id).Claim(id, p, claim, s.call.At)
	}
}

// deliver delivers the next message of a queue.
func (w *world) deliver(between [2]int) {
	s := w.queues[between][0]
	if w.queues[between] = w.queues[between][1:]; len(w.queues[between]) == 0 {
		delete(w.queues, between)
	}
	id, p, i := s.to, w.profile(s.to), w.as(s.to)
	switch s.m.Kind {
	case message.Link:
		i.Link(id, p, &s.m)
	case message.Refuse:
		i.Refuse(id, p, &s.m)
	case message.Raise:
		i.Raise(id, p, &s.m)
	case message.Forget:
		i.Forget(p, &s.m, w.offset+1)
	case message.Forward:
		w.take(id, s)
	case message.Merge:
		if i.Merge(id, p, &s.m) {
			if err := i.Join(id, p, &s.m); err != nil {
				w.tb.Fatal(err)
			}
		}
	case message.Tick, message.Resync, message.Await, message.Filled: // of partitions
	}
}

// settle delivers all.
func (w *world) settle(random *rand.Rand) {
	for range 100_000 {
		if len(w.queues) == 0 {
			return
		}
		w.deliver(w.some(random))
	}
	w.tb.Fatal("messages go round for ever")
}

func (w *world) some(random *rand.Rand) [2]int {
	all := slices.SortedFunc(maps.Keys(w.queues), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return all[random.IntN(len(all))]
}

// root is the user whom an id belongs to.
func (w *world) root(id string) string {
	for range len(w.profiles) + 1 {
		to := w.profile(id).Redirect
		if to == "" {
			return id
		}
		id = to
	}
	w.tb.Fatalf("the redirects of %s form a circle", id)
	return ""
}

func (w *world) orders(id string) string {
	node, err := w.c.Explain(w.profile(id), "orders", begin.Add(time.Hour*1000))
	if err != nil {
		w.tb.Fatal(err)
	}
	return string(node.Value)
}

func order(user, anonymous string) engine.Call {
	return engine.Call{Type: schemas.TypeTrack, Name: "Order", UserID: user, AnonymousID: anonymous}
}

func alias(user, previous string) engine.Call {
	return engine.Call{Type: schemas.TypeAlias, UserID: user, PreviousID: previous}
}

func fixed() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func TestClaims(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		call engine.Call
		want []identity.Claim
	}{
		{order("u", ""), nil},
		{order("", "a"), nil},
		{order("u", "a"), []identity.Claim{{ID: "a"}}},
		{order("u", "u"), nil},
		{alias("u", "v"), []identity.Claim{{ID: "v", Alias: true}}},
		{alias("u", "u"), nil},
		{engine.Call{Type: schemas.TypeAlias, AnonymousID: "a", PreviousID: "v"}, nil},
		{engine.Call{Type: schemas.TypeTrack, UserID: "u", PreviousID: "v"}, nil},
	} {
		if diff := cmp.Diff(test.want, identity.Claims(&test.call)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.call, diff)
		}
	}
}

// TestDecisions has calls come one after the other, each when all is said of the one before.
func TestDecisions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		calls []engine.Call
		want  map[string]string // whose each id is, and after a blank how many orders they have
	}{
		{"anonymous first", []engine.Call{order("", "a"), order("", "a"), order("u", "a"), order("", "a")}, map[string]string{"a": "u 4", "u": "u 4"}},
		{"the first claim holds", []engine.Call{order("u", "a"), order("v", "a"), order("", "a")}, map[string]string{"a": "u 2", "u": "u 2", "v": "v 1"}},
		{"a user is claimed by an alias alone", []engine.Call{order("v", ""), order("u", "v")}, map[string]string{"v": "v 1", "u": "u 1"}},
		{"alias", []engine.Call{order("v", ""), alias("u", "v"), order("v", "")}, map[string]string{"v": "u 2", "u": "u 2"}},
		{"alias of an anonymous id of another", []engine.Call{order("u", "a"), alias("v", "a")}, map[string]string{"a": "u 1", "u": "u 1", "v": "v 0"}},
		{"alias of one who was merged", []engine.Call{order("v", ""), order("u", ""), alias("u", "v"), alias("w", "v"), order("v", "")}, map[string]string{"v": "w 3", "u": "w 3", "w": "w 3"}},
		{"chain", []engine.Call{order("", "a"), order("u", "a"), alias("v", "u"), alias("w", "v"), order("", "a"), order("u", "")}, map[string]string{"a": "w 4", "u": "w 4", "v": "w 4", "w": "w 4"}},
		{"there and back", []engine.Call{order("u", ""), order("v", ""), alias("u", "v"), alias("v", "u"), order("v", "")}, map[string]string{"u": "u 3", "v": "u 3"}},
	} {
		w := newWorld(t, 3)
		for _, c := range test.calls {
			w.call(c)
			w.settle(fixed())
		}
		got := make(map[string]string)
		for id := range test.want {
			got[id] = w.root(id) + " " + w.orders(w.root(id))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestACircle: three users are each claimed by another one before any of them knows.
func TestACircle(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		w := newWorld(t, 3)
		for _, user := range []string{"u1", "u2", "u3"} {
			w.call(order(user, ""))
		}
		w.call(alias("u1", "u2"))
		w.call(alias("u2", "u3"))
		w.call(alias("u3", "u1"))
		w.settle(rand.New(rand.NewPCG(seed, 0)))
		root := w.root("u1")
		if w.root("u2") != root || w.root("u3") != root || w.orders(root) != "3" {
			t.Fatalf("seed %d: %s, %s, %s; %s orders", seed, root, w.root("u2"), w.root("u3"), w.orders(root))
		}
	}
}

// union is what calls say, one after the other.
type union struct {
	same    map[string]string   // users who are another one by an alias
	orders  map[string]int      // by the id that made them
	claimed map[string][]string // users by the anonymous id that came with them
}

func (u *union) root(id string) string {
	for u.same[id] != "" {
		id = u.same[id]
	}
	return id
}

// random makes a call that a union is told too, or delivers some messages.
func (w *world) random(u *union, random *rand.Rand) {
	user := func() string { return fmt.Sprintf("u%d", random.IntN(users)) }
	anonymous := fmt.Sprintf("a%d", random.IntN(4))
	switch random.IntN(4) {
	case 0:
		w.call(order("", anonymous))
		u.orders[anonymous]++
	case 1:
		by := user()
		w.call(order(by, anonymous))
		u.orders[by]++
		u.claimed[anonymous] = append(u.claimed[anonymous], by)
	case 2:
		to, from := user(), user()
		w.call(alias(to, from))
		if u.root(to) != u.root(from) {
			u.same[u.root(from)] = u.root(to)
		}
	default:
		for range random.IntN(6) {
			if len(w.queues) > 0 {
				w.deliver(w.some(random))
			}
		}
	}
}

const users = 5

// TestAnyOrder has random calls cross, and compares with a union of what they say.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t, 1+random.IntN(4))
		u := &union{make(map[string]string), make(map[string]int), make(map[string][]string)}
		for i := range users { // whoever is a user is known as one
			id := fmt.Sprintf("u%d", i)
			w.call(order(id, ""))
			u.orders[id]++
		}
		for range 25 {
			w.random(u, random)
		}
		w.settle(random)
		w.agree(u)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// agree checks that no order is missing or counted twice, that those users are one who are
// by their aliases, and that each id belongs to one who claimed it, and is linked there.
func (w *world) agree(u *union) {
	want := make(map[string]int)
	for id, n := range u.orders {
		want[w.root(id)] += n
	}
	for id, n := range want {
		if got := w.orders(id); got != strconv.Itoa(n) {
			w.tb.Errorf("%s has %s orders, want %d; %v", id, got, n, w.counts)
		}
	}
	for i := range users * users {
		a, b := fmt.Sprintf("u%d", i/users), fmt.Sprintf("u%d", i%users)
		if (w.root(a) == w.root(b)) != (u.root(a) == u.root(b)) {
			w.tb.Errorf("%s is %s, and %s is %s; by the aliases %s and %s", a, w.root(a), b, w.root(b), u.root(a), u.root(b))
		}
	}
	for id, by := range u.claimed {
		if !slices.ContainsFunc(by, func(user string) bool { return w.root(user) == w.root(id) }) {
			w.tb.Errorf("%s is %s, and was claimed by %v", id, w.root(id), by)
		}
	}
	for id, p := range w.profiles {
		for _, link := range p.Links {
			if w.root(link.ID) != id {
				w.tb.Errorf("%s has the link %s, which is %s", id, link.ID, w.root(link.ID))
			}
		}
	}
}

// TestTheBound: a user of a shared device gets so many ids and no more, and is shown those
// that they did not get.
func TestTheBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.bound = identity.Bound{Max: 2, Per: time.Hour}
	for i := range 4 {
		w.call(order("u", fmt.Sprintf("a%d", i)))
		w.settle(fixed())
	}
	p := w.profile("u")
	if len(p.Links) != 2 || len(p.Refused) != 2 || w.counts[identity.Limited] != 2 || w.root("a3") != "a3" {
		t.Errorf("links %v, refused %v, counted %v", p.Links, p.Refused, w.counts)
	}
	w.offset += 7200
	w.call(order("u", "a3"))
	w.settle(fixed())
	if w.root("a3") != "u" {
		t.Error("what was refused is not tried again when the time is over")
	}
}

// TestLinksAreBounded: what a user may be called takes no more of their record than there is
// room for, however the ids are claimed, and two users who have as many do not become one.
func TestLinksAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.bound = identity.Bound{Max: 1000, Per: time.Hour}
	for i := range 200 {
		id := fmt.Sprintf("%0200d", i)
		w.call(order(fmt.Sprint("u", i%2), "a"+id))
		w.call(alias(fmt.Sprint("u", i%2), "p"+id))
		w.settle(fixed())
	}
	u, limited := w.profile("u0"), w.counts[identity.Limited]
	if !u.LinksFull() || len(u.Links) > 120 || limited < 100 || len(u.Refused) == 0 {
		t.Fatalf("%d links, %d were limited, %d are shown", len(u.Links), limited, len(u.Refused))
	}
	w.call(alias("u1", "u0"))
	w.settle(fixed())
	if w.root("u0") != "u0" || w.counts[identity.Limited] != limited+1 {
		t.Error("two users who have all the ids that they may have are one")
	}
	for _, id := range []string{"u0", "u1"} {
		if size := len(w.profile(id).Append(nil)); size > engine.MaxRecordBytes {
			t.Errorf("the record of %s has %d bytes", id, size)
		}
	}
}

// TestDeletion forgets what was merged, and frees the ids; a state that is on its way goes
// to nobody.
func TestDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.call(order("", "a"))
	w.call(order("u", "a"))
	w.call(alias("v", "u"))
	w.settle(fixed())
	w.call(order("", "b"))
	w.call(order("v", "b"))
	w.deliver([2]int{w.owner("v"), w.owner("b")}) // the state of b is on its way
	w.as("v").Delete("v", w.profile("v"), engine.Deletion{Offset: w.offset + 1, Request: "r"})
	w.settle(fixed())
	for _, id := range []string{"a", "b", "u", "v"} {
		if p := w.profile(id); w.root(id) != id || w.orders(id) != "0" || p.Deletion.Request != "r" || len(p.Links) > 0 {
			t.Errorf("%s: is %s, %s orders, %+v, links %v", id, w.root(id), w.orders(id), p.Deletion, p.Links)
		}
	}
	w.call(order("w", "a"))
	w.settle(fixed())
	if got := w.root("a"); got != "w" {
		t.Errorf("a is %s", strings.TrimSpace(got))
	}
}
