package door

import (
	"testing"

	"github.com/anabranch/anabranch/analytics/internal/queue"
)

// The loop is woken by the message that waits first and by the one that makes a
// batch full, in messages or in bytes, and by no other.
func TestDisturb(t *testing.T) {
	for _, c := range []struct{ quiet, size, messages int }{
		{1, 10, 1}, {20, 10, 20}, {20, 499, 2}, {20, 999, 1}, {20, 5000, 1},
	} {
		r := Door{}
		r.quiet.Messages, r.quiet.Bytes = c.quiet, 1000
		n := 1
		for m := (&queue.Message{JSON: make([]byte, c.size)}); !r.disturb(m); n++ {
		}
		if n != c.messages || r.quiet != Undisturbed() {
			t.Errorf("%+v: woken by message %d, %+v", c, n, r.quiet)
		}
	}
}

// Nobody enters who has no room, or passes those who wait for it, or comes too late.
func TestEnter(t *testing.T) {
	message := func(cost int) *queue.Message { return &queue.Message{Cost: cost} }
	enters := func(d *Door, cost int, want bool) {
		t.Helper()
		if entered, _ := d.Enter(message(cost)); entered != want {
			t.Errorf("a message of %d: %t", cost, entered)
		}
	}
	d := &Door{Room: queue.Load{Messages: 3, Bytes: 100}}
	enters(d, 1000, true) // alone it always has room
	enters(d, 1, false)
	d.Release(queue.Load{Messages: 1, Bytes: 1000})
	enters(d, 60, true)
	enters(d, 41, false)
	enters(d, 20, true)
	if !d.Reserve(message(20)) || d.Reserve(message(0)) {
		t.Error("room for three messages")
	}
	d.Release(queue.Load{Messages: 2, Bytes: 50})
	d.Crowd(true)
	enters(d, 1, false)
	d.Crowd(false)
	enters(d, 1, true)
	d.Shut()
	enters(d, 1, false)
	if got := len(d.TakeIn(nil)); got != 4 {
		t.Errorf("%d have arrived", got)
	}
}
