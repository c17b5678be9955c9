package dispatch

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"
)

// A call does not wait for what is done with batches.
func TestPutBesideOtherWork(t *testing.T) {
	l := newLab(t, nil)
	l.Dispatcher.mu.Lock()
	done := make(chan error, 1)
	go func() { done <- l.Put(t.Context(), message("m1", "u", 10)) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the call waits")
	}
	l.Dispatcher.mu.Unlock()
	l.end(t)
}

// Whoever looks sees what has arrived, in the order of the calls.
func TestArrivedIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		l.Dispatcher.mu.Lock() // the loop can't look
		l.put(t, "u", 1, 3)
		if n := l.queue.Waiting().Messages; n != 0 || len(l.door.arrived) != 3 {
			t.Fatalf("%d are queued, %d at the door", n, len(l.door.arrived))
		}
		l.Dispatcher.mu.Unlock()
		if s := l.Stats(); s.Accepted != 3 || s.Queued != 3 || s.QueuedBytes != 30 {
			t.Errorf("%+v", s)
		}
		if err := l.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		if got, want := l.attempts()[0].ids, []string{"m1", "m2", "m3"}; !reflect.DeepEqual(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		l.end(t)
	})
}

// The loop is woken by the message that waits first and by the one that makes a
// batch full, in messages or in bytes, and by no other.
func TestDisturb(t *testing.T) {
	for _, c := range []struct{ quiet, size, messages int }{
		{1, 10, 1}, {20, 10, 20}, {20, 499, 2}, {20, 999, 1}, {20, 5000, 1},
	} {
		r := door{}
		r.quiet.Messages, r.quiet.Bytes = c.quiet, 1000
		n := 1
		for m := message("m", "u", c.size); !r.disturb(m); n++ {
		}
		if n != c.messages || r.quiet != undisturbed() {
			t.Errorf("%+v: woken by message %d, %+v", c, n, r.quiet)
		}
	}
}
