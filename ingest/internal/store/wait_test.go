package store

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TestWaitEndsOnce walks the orders in which outcomes may come.
func TestWaitEndsOnce(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	for name, c := range map[string]struct {
		outcomes []error
		known    int // outcomes until the request's is known
		want     error
	}{
		"all stored":       {[]error{nil, nil, nil}, 3, nil},
		"first fails":      {[]error{first, nil, nil}, 1, first},
		"last fails":       {[]error{nil, nil, first}, 3, first},
		"all fail":         {[]error{first, second, second}, 1, first},
		"one in the midst": {[]error{nil, first, second}, 2, first},
	} {
		s := new(Store)
		w := &wait{store: s, records: 3, bytes: 9, left: 3, done: make(chan struct{})}
		for i, outcome := range c.outcomes {
			w.promise(new(kgo.Record), outcome)
			if got := isClosed(w.done); got != (i+1 >= c.known) {
				t.Errorf("%s: known is %v after %d outcomes", name, got, i+1)
			}
			if got := s.room.records == 3; got != (i == 2) {
				t.Errorf("%s: room given back is %v after %d outcomes", name, got, i+1)
			}
		}
		if err := w.until(time.Hour, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
