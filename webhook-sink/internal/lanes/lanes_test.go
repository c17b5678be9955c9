package lanes

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// popAll hands out all that is free, without releasing any.
func popAll(l *Lanes[string]) []string {
	var all []string
	for item, ok := l.Pop(); ok; item, ok = l.Pop() {
		all = append(all, item)
	}
	return all
}

// waiting counts what is left, behind busy keys too.
func waiting[T any](l *Lanes[T]) int {
	n := len(l.ready)
	for _, behind := range l.behind {
		n += len(behind)
	}
	return n
}

func TestOneOfEachKeyAtATime(t *testing.T) {
	var l Lanes[string]
	for _, item := range []string{"a1", "a2", "b1", "a3", "c1", "b2"} {
		l.Push(item[:1], item)
	}
	if diff := cmp.Diff([]string{"a1", "b1", "c1"}, popAll(&l)); diff != "" {
		t.Fatalf("handed out first (-want +got):\n%s", diff)
	}
	if waiting(&l) != 3 || l.Ready() {
		t.Fatalf("%d wait, Ready() = %t; expected 3 waiting behind busy keys", waiting(&l), l.Ready())
	}
	l.Release("b")
	l.Release("a")
	if diff := cmp.Diff([]string{"b2", "a2"}, popAll(&l)); diff != "" {
		t.Fatalf("handed out after Release of b and a (-want +got):\n%s", diff)
	}
}

func TestAKeyIsForgottenWhenNothingIsLeft(t *testing.T) {
	var l Lanes[string]
	for i := range 1000 {
		key := strconv.Itoa(i)
		l.Push(key, key)
		popAll(&l)
		l.Release(key)
	}
	if len(l.behind) != 0 {
		t.Fatalf("%d keys are remembered, expected none", len(l.behind))
	}
}

func TestItemsWithoutAKeyNeverWait(t *testing.T) {
	var l Lanes[string]
	l.Push("", "x")
	l.Push("", "y")
	if diff := cmp.Diff([]string{"x", "y"}, popAll(&l)); diff != "" {
		t.Fatalf("handed out (-want +got):\n%s", diff)
	}
	l.Release("")
	if l.Ready() || waiting(&l) != 0 {
		t.Fatal("something is left")
	}
}

func TestRemoveKeepsOrderAndBusyKeys(t *testing.T) {
	var l Lanes[string]
	l.Push("a", "a1 flying")
	popAll(&l)
	for _, item := range []string{"a2 drop", "a3 keep", "b1 drop", "b2 drop", "b3 keep", "c1 drop", "d1 keep"} {
		l.Push(item[:1], item)
	}
	l.Remove(func(item string) bool { return item[3:] == "drop" })
	if waiting(&l) != 3 {
		t.Fatalf("%d wait, expected 3", waiting(&l))
	}
	if diff := cmp.Diff([]string{"b3 keep", "d1 keep"}, popAll(&l)); diff != "" {
		t.Fatalf("handed out while a is busy (-want +got):\n%s", diff)
	}
	l.Release("a")
	if diff := cmp.Diff([]string{"a3 keep"}, popAll(&l)); diff != "" {
		t.Fatalf("handed out after Release of a (-want +got):\n%s", diff)
	}
}

// check holds one random run against what the lanes promise.
type check struct {
	t      *testing.T
	lanes  Lanes[item]
	next   map[string]int // sequence of the next item to be pushed
	last   map[string]int // sequence of the last item handed out
	flying map[string]bool
	held   int
}

type item struct {
	key string
	seq int
}

func (c *check) push(key string) {
	c.lanes.Push(key, item{key, c.next[key]})
	c.next[key]++
	c.held++
}

func (c *check) pop() {
	got, ok := c.lanes.Pop()
	if !ok {
		return
	}
	c.held--
	if c.flying[got.key] {
		c.t.Fatalf("two items of key %s are handed out", got.key)
	}
	if last, seen := c.last[got.key]; seen && got.seq <= last {
		c.t.Fatalf("item %d of key %s came after %d", got.seq, got.key, last)
	}
	c.flying[got.key], c.last[got.key] = true, got.seq
}

func (c *check) release(key string) {
	if c.flying[key] {
		delete(c.flying, key)
		c.lanes.Release(key)
	}
}

func (c *check) remove(third int) {
	dropped := 0
	c.lanes.Remove(func(i item) bool {
		if i.seq%3 == third {
			dropped++
			return true
		}
		return false
	})
	c.held -= dropped
}

func (c *check) step(op byte) {
	key := strconv.Itoa(int(op >> 3 % 6))
	switch op % 8 {
	case 0, 1, 2:
		c.push(key)
	case 3, 4:
		c.pop()
	case 5, 6:
		c.release(key)
	case 7:
		c.remove(int(op>>3) % 3)
	}
	if waiting(&c.lanes) != c.held {
		c.t.Fatalf("%d wait, expected %d", waiting(&c.lanes), c.held)
	}
}

// drain ends the run: all that was held must come out.
func (c *check) drain() {
	for c.held > 0 {
		before := c.held
		for key := range c.flying {
			c.release(key)
		}
		for c.lanes.Ready() {
			c.pop()
		}
		if c.held == before {
			c.t.Fatalf("%d items are stuck", c.held)
		}
	}
}

func run(t *testing.T, ops []byte) {
	t.Helper()
	c := check{t: t, next: map[string]int{}, last: map[string]int{}, flying: map[string]bool{}}
	for _, op := range ops {
		c.step(op)
	}
	c.drain()
}

func TestLanesKeepTheirPromises(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		ops := make([]byte, 1+random.IntN(400))
		for i := range ops {
			ops[i] = byte(random.Uint32())
		}
		run(t, ops)
	}
}

func TestTrimTakesFromTheEnds(t *testing.T) {
	var l Lanes[string]
	for _, item := range []string{"a0", "a1", "a2", "a3", "b0", "b1", "c0", "d0", "d1", "d2"} {
		l.Push(item[:1], item)
	}
	l.Push("", "none")
	l.Pop() // a0: what waits behind it is a's
	var cut []string
	l.Trim(func(waiting []string) int {
		if waiting[0] == "d1" {
			return len(waiting)
		}
		return 1
	}, func(rest []string) { cut = append(cut, rest...) })
	if want := []string{"a2", "a3"}; !slices.Equal(cut, want) {
		t.Errorf("%v were cut off, want %v", cut, want)
	}
	l.Push("a", "a4")
	var left []string
	for l.Release("a"); l.Ready(); {
		item, _ := l.Pop()
		l.Release(item[:1])
		left = append(left, item)
	}
	if want := []string{"b0", "c0", "d0", "none", "a1", "b1", "d1", "a4", "d2"}; !slices.Equal(left, want) {
		t.Errorf("%v are left, want %v", left, want)
	}
}

func FuzzLanes(f *testing.F) {
	f.Add([]byte{0, 0, 3, 0, 7, 5})
	f.Add([]byte{0, 8, 16, 3, 3, 15, 5, 13})
	f.Fuzz(run)
}

// BenchmarkLanes is one event's way through the lanes, with 10,000 keys and 64
// in flight.
func BenchmarkLanes(b *testing.B) {
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = "user-" + strconv.Itoa(i)
	}
	var l Lanes[int]
	flying := make([]int, 0, 64)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		l.Push(keys[n%len(keys)], n%len(keys))
		n++
		if len(flying) == cap(flying) {
			l.Release(keys[flying[0]])
			flying = append(flying[:0], flying[1:]...)
		}
		if item, ok := l.Pop(); ok {
			flying = append(flying, item)
		}
	}
}
