package queue

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
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
	first := q.Take(2, 1000)
	for _, c := range []struct {
		what      string
		got, want []string
	}{
		{"the oldest", ids(first), []string{"a1", "b1"}},
		{"without users who are out", ids(q.Take(10, 1000)), []string{"c1"}},
		{"nobody is left", ids(q.Take(10, 1000)), []string{}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", c.what, c.got, c.want)
		}
	}
	if got := q.Eligible(); got != (Load{}) || q.Waiting() != (Load{3, 30}) {
		t.Errorf("eligible %v, waiting %v", got, q.Waiting())
	}
	q.Done(first)
	if seq, ok := q.Due(); !ok || seq != 3 || q.Eligible() != (Load{3, 30}) {
		t.Errorf("due %d %t, eligible %v", seq, ok, q.Eligible())
	}
	if got, want := ids(q.Take(10, 1000)), []string{"a2", "a3", "b2"}; !reflect.DeepEqual(got, want) {
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
		batch := q.Take(10, c.bytes)
		if got, want := ids(batch), c.want; !reflect.DeepEqual(got, want) {
			t.Errorf("%d bytes: got %v, want %v", c.bytes, got, want)
		}
		q.Done(batch)
	}
}

func TestDrop(t *testing.T) {
	var q Queue
	put(&q, "a1", "b1", "a2", "b2")
	batch := q.Take(1, 1000)
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

// model does the same with slices, slowly.
type model struct {
	waiting []*Message
	out     map[string]bool
}

func (m *model) take(messages, bytes int) []string {
	batch, skipped := []string{}, []*Message{}
	full := false
	users := map[string]bool{}
	for _, w := range m.waiting {
		if full || m.out[w.User] || len(batch) == messages {
			skipped = append(skipped, w)
			continue
		}
		if bytes -= w.size(); bytes < 0 && len(batch) > 0 {
			full = true
			skipped = append(skipped, w)
			continue
		}
		batch = append(batch, w.ID)
		users[w.User] = true
	}
	for u := range users {
		m.out[u] = true
	}
	m.waiting = skipped
	return batch
}

func (m *model) eligible() (l Load) {
	for _, w := range m.waiting {
		if !m.out[w.User] {
			l.add(1, w.size())
		}
	}
	return l
}

// TestAgainstModel does anything to a queue and to its model.
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(200) {
		dice := rand.New(rand.NewPCG(seed, 1))
		var q Queue
		m := model{out: map[string]bool{}}
		var out [][]*Message
		for step := range 400 {
			switch dice.IntN(8) {
			default:
				w := &Message{ID: strconv.Itoa(step), User: strconv.Itoa(dice.IntN(6)), JSON: make([]byte, dice.IntN(50))}
				q.Put(w)
				m.waiting = append(m.waiting, w)
			case 4, 5:
				messages, bytes := 1+dice.IntN(6), dice.IntN(200)
				batch := q.Take(messages, bytes)
				if got, want := ids(batch), m.take(messages, bytes); !reflect.DeepEqual(got, want) {
					t.Fatalf("seed %d step %d: take %d, %d: got %v, want %v", seed, step, messages, bytes, got, want)
				}
				out = append(out, batch)
			case 6:
				if len(out) > 0 {
					i := dice.IntN(len(out))
					for _, w := range out[i] {
						m.out[w.User] = false
					}
					q.Done(out[i])
					out = slices.Delete(out, i, i+1)
				}
			case 7:
				if w := q.Drop(); (w == nil) != (len(m.waiting) == 0) || w != nil && w != m.waiting[0] {
					t.Fatalf("seed %d step %d: dropped %v", seed, step, w)
				} else if w != nil {
					m.waiting = m.waiting[1:]
				}
			}
			if q.Eligible() != m.eligible() || q.Waiting().Messages != len(m.waiting) {
				t.Fatalf("seed %d step %d: eligible %v, want %v; waiting %v, want %d", seed, step, q.Eligible(), m.eligible(), q.Waiting(), len(m.waiting))
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
	q.Done(q.Take(5000, 1<<20))
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
			q.Done(q.Take(20, 1<<20))
		}
	}
}
