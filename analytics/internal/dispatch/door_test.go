//go:build go1.26

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
		if n := l.queue.Waiting().Messages; n != 0 {
			t.Fatalf("%d are queued already", n)
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
