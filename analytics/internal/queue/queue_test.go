//go:build go1.26

package queue

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"
)

func put(q *Queue, messages ...string) {
	for _, m := range messages {
		q.Put(&Message{ID: m, User: m[:1], JSON: make([]byte, 9)})
	}
}

func ids(messages []*Message) []string {
	list := []string{}
	for _, m := range messages {
		list = append(list, m.ID)
	}
	return list
}

func TestTakeKeepsUsersApart(t *testing.T) {
	var q Queue
	put(&q, "a1", "b1", "a2", "c1", "a3", "b2")
	first := q.Take(Room{Messages: 2, Bytes: 1000, InOrder: true})
	for _, c := range []struct {
		what      string
		got, want []string
	}{
		{"the oldest", ids(first), []string{"a1", "b1"}},
		{"without users who are out", ids(q.Take(Room{Messages: 10, Bytes: 1000})), []string{"c1"}},
		{"nobody is left", ids(q.Take(Room{Messages: 10, Bytes: 1000})), []string{}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", c.what, c.got, c.want)
		}
	}
	if got := q.Eligible(); got != (Load{}) || q.Waiting() != (Load{3, 30}) {
		t.Errorf("eligible %v, waiting %v", got, q.Waiting())
	}
	q.Done(first)
	if m := q.Oldest(); m == nil || m.Seq != 3 || q.Eligible() != (Load{3, 30}) {
		t.Errorf("oldest %v, eligible %v", m, q.Eligible())
	}
	if got, want := ids(q.Take(Room{Messages: 10, Bytes: 1000})), []string{"a2", "a3", "b2"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestTakeObeysBytes(t *testing.T) {
	var q Queue
	put(&q, "a1", "a2", "b1")
	for _, c := range []struct {
		bytes int
		want  []string
	}{{29, []string{"a1", "a2"}}, {5, []string{"b1"}}} {
		batch := q.Take(Room{Messages: 10, Bytes: c.bytes})
		if got, want := ids(batch), c.want; !reflect.DeepEqual(got, want) {
			t.Errorf("%d bytes: got %v, want %v", c.bytes, got, want)
		}
		q.Done(batch)
	}
}

func TestDrop(t *testing.T) {
	var q Queue
	put(&q, "a1", "b1", "a2", "b2")
	batch := q.Take(Room{Messages: 1, Bytes: 1000})
	var dropped []string
	for m := q.Drop(); m != nil; m = q.Drop() {
		dropped = append(dropped, m.ID)
	}
	if want := []string{"b1", "a2", "b2"}; !reflect.DeepEqual(dropped, want) {
		t.Errorf("got  %v\nwant %v", dropped, want)
	}
	q.Done(batch)
	if len(q.users) != 0 || q.Waiting() != (Load{}) || q.Eligible() != (Load{}) {
		t.Errorf("an empty queue holds %d users, %v, %v", len(q.users), q.Waiting(), q.Eligible())
	}
}

// One user's messages leave together, rather than those of as many users as there are.
func TestTakeKeepsUsersTogether(t *testing.T) {
	var q Queue
	put(&q, "a1", "b1", "a2", "c1", "a3", "b2")
	for _, want := range [][]string{{"a1", "a2", "a3"}, {"b1", "c1", "b2"}} {
		if got := ids(q.Take(Room{Messages: 3, Bytes: 1000})); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	}
}

// What may be at fault is never mixed with more than was left of its batch.
func TestTogether(t *testing.T) {
	var q Queue
	put(&q, "a1", "b1", "c1", "d1", "e1")
	batch := q.Take(Room{Messages: 4, Bytes: 1000})
	for _, m := range batch[2:] {
		m.Together = 2
	}
	q.Return(batch[2:], batch[:2])
	for _, want := range [][]string{{"c1", "d1"}, {"e1"}} {
		if got := ids(q.Take(Room{Messages: 4, Bytes: 1000})); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	}
}

// model does the same with slices, slowly.
type model struct {
	waiting []*Message
	out     map[string]bool
}

func (m *model) eligible() (list []*Message) {
	for _, w := range m.waiting {
		if !m.out[w.User] {
			list = append(list, w)
		}
	}
	return list
}

// candidates are the eligible messages in the order in which they may leave.
func (m *model) candidates(inOrder bool) []*Message {
	list := m.eligible()
	if inOrder {
		return list
	}
	first := map[string]uint64{}
	for _, w := range list {
		if first[w.User] == 0 {
			first[w.User] = w.Seq
		}
	}
	slices.SortStableFunc(list, func(a, b *Message) int { return cmp.Compare(first[a.User], first[b.User]) })
	return list
}

func (m *model) take(room Room) []*Message {
	batch := []*Message{}
	for _, w := range m.candidates(room.InOrder) {
		if w.Together > 0 && len(batch) < room.Messages {
			if len(batch) >= w.Together {
				break
			}
			room.Messages = min(room.Messages, w.Together)
		}
		if len(batch) == room.Messages || room.Bytes < w.size() && len(batch) > 0 {
			break
		}
		room.Bytes -= w.size()
		batch = append(batch, w)
	}
	return m.leave(batch)
}

func (m *model) leave(batch []*Message) []*Message {
	slices.SortFunc(batch, bySeq)
	for _, w := range batch {
		m.out[w.User] = true
		m.waiting = slices.DeleteFunc(m.waiting, func(other *Message) bool { return other == w })
	}
	return batch
}

func (m *model) takeBefore(moment time.Time) []*Message {
	return m.leave(slices.DeleteFunc(m.eligible(), func(w *Message) bool { return !w.At.Before(moment) }))
}

func (m *model) done(batch []*Message) {
	for _, w := range batch {
		m.out[w.User] = false
	}
}

func (m *model) putBack(messages, rest []*Message) {
	m.done(messages)
	for _, w := range rest {
		m.out[w.User] = true
	}
	m.waiting = append(m.waiting, messages...)
	slices.SortFunc(m.waiting, bySeq)
}

// pair is a queue and its model, and what both have given out.
type pair struct {
	queue Queue
	model model
	out   [][]*Message
	dice  *rand.Rand
}

// step does anything to both, and says what they differ in.
func (p *pair) step(n int) string {
	same := func(what string, got, want []*Message) string {
		if len(got) > 0 {
			p.out = append(p.out, got)
		}
		if !slices.Equal(got, want) {
			return fmt.Sprintf("%s: got %v, want %v", what, ids(got), ids(want))
		}
		return ""
	}
	switch p.dice.IntN(10) {
	default:
		w := &Message{
			ID: strconv.Itoa(n), User: strconv.Itoa(p.dice.IntN(6)), JSON: make([]byte, p.dice.IntN(50)),
			Together: max(0, p.dice.IntN(12)-8), At: time.Unix(int64(n), 0),
		}
		p.queue.Put(w)
		p.model.waiting = append(p.model.waiting, w)
	case 4, 5:
		room := Room{1 + p.dice.IntN(6), p.dice.IntN(200), p.dice.IntN(2) == 0}
		return same(fmt.Sprintf("take %+v", room), p.queue.Take(room), p.model.take(room))
	case 6:
		moment := time.Unix(int64(n-p.dice.IntN(100)), 0)
		return same("take before", p.queue.TakeBefore(moment), p.model.takeBefore(moment))
	case 7, 8:
		if len(p.out) == 0 {
			break
		}
		i := p.dice.IntN(len(p.out))
		batch := p.out[i]
		if cut := 1 + p.dice.IntN(len(batch)); cut < len(batch) && p.dice.IntN(2) == 0 {
			p.queue.Return(batch[cut:], batch[:cut])
			p.model.putBack(batch[cut:], batch[:cut])
			p.out[i] = batch[:cut]
			break
		}
		p.queue.Done(batch)
		p.model.done(batch)
		p.out = slices.Delete(p.out, i, i+1)
	case 9:
		if w := p.queue.Drop(); (w == nil) != (len(p.model.waiting) == 0) || w != nil && w != p.model.waiting[0] {
			return fmt.Sprintf("dropped %v", w)
		} else if w != nil {
			p.model.waiting = p.model.waiting[1:]
		}
	}
	return ""
}

// TestAgainstModel does anything to a queue and to its model.
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(200) {
		p := pair{model: model{out: map[string]bool{}}, dice: rand.New(rand.NewPCG(seed, 1))}
		for n := range 400 {
			if difference := p.step(n); difference != "" {
				t.Fatalf("seed %d step %d: %s", seed, n, difference)
			}
			var eligible Load
			for _, w := range p.model.eligible() {
				eligible.add(1, w.size())
			}
			if p.queue.Eligible() != eligible || p.queue.Waiting().Messages != len(p.model.waiting) {
				t.Fatalf("seed %d step %d: eligible %v, want %v; waiting %v, want %d", seed, n, p.queue.Eligible(), eligible, p.queue.Waiting(), len(p.model.waiting))
			}
		}
	}
}

// A queue on its way holds on to no user who is gone.
func TestUsersAreForgotten(t *testing.T) {
	var q Queue
	for i := range 5000 {
		q.Put(&Message{User: strconv.Itoa(i)})
	}
	q.Done(q.Take(Room{Messages: 5000, Bytes: 1 << 20}))
	if len(q.users) != 0 || len(q.spare) != spares {
		t.Errorf("%d users, %d spare", len(q.users), len(q.spare))
	}
}

// Bench: a message through a queue with many users waiting.
func BenchmarkQueue(b *testing.B) {
	var q Queue
	users := make([]string, 10_000)
	for i := range users {
		users[i] = fmt.Sprint("user-", i)
		q.Put(&Message{User: users[i]})
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		q.Put(&Message{User: users[i%len(users)]})
		if i++; i%20 == 0 {
			q.Done(q.Take(Room{Messages: 20, Bytes: 1 << 20}))
		}
	}
}
