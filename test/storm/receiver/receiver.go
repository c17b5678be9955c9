package receiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
)

// A Behaviour is how a receiver answers. The zero value accepts at once.
type Behaviour struct {
	Delay time.Duration // before the answer
	Hang  bool          // no answer at all, until the sender gives up
	// FailEvery n answers the first attempt of each n-th event with 503.
	FailEvery int
}

// accepts reports whether an attempt is accepted; before counts the event's
// earlier attempts.
func (b Behaviour) accepts(s books.Stamp, before int) bool {
	if b.Hang {
		return false
	}
	return b.FailEvery == 0 || before > 0 || s.Sequence%b.FailEvery != 0
}

// Receiver is one webhook receiver with a port of its own, so that the sender's
// connections and its memory of failures are those of one host.
type Receiver struct {
	books     *books.Books
	addr      string
	behaviour atomic.Pointer[Behaviour]

	mu       sync.Mutex
	server   *http.Server // nil while it is down
	done     chan struct{}
	attempts []time.Time
}

// New starts a receiver on a free port of the loopback network.
func New(ctx context.Context, b *books.Books) (*Receiver, error) {
	r := &Receiver{books: b, addr: "127.0.0.1:0"}
	r.behaviour.Store(&Behaviour{})
	return r, r.Up(ctx)
}

// URL is where it receives.
func (r *Receiver) URL() string { return "http://" + r.addr + "/hook" }

// Behave changes how it answers from the next request on.
func (r *Receiver) Behave(b Behaviour) { r.behaviour.Store(&b) }

// Up makes it listen, on the port that it had before.
func (r *Receiver) Up(ctx context.Context) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", r.addr)
	if err != nil {
		return fmt.Errorf("start a receiver: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addr = l.Addr().String()
	r.server = &http.Server{Handler: http.HandlerFunc(r.serve)} //nolint:gosec // speaks to our own sink alone
	r.done = make(chan struct{})
	go func(server *http.Server, done chan<- struct{}) {
		defer close(done)
		_ = server.Serve(l) // it ends by Close alone
	}(r.server, r.done)
	return nil
}

// Down closes its port and its connections: who calls it is refused.
func (r *Receiver) Down() {
	r.mu.Lock()
	server, done := r.server, r.done
	r.server = nil
	r.mu.Unlock()
	if server == nil {
		return
	}
	_ = server.Close()
	<-done
}

// serve writes one attempt down and answers it.
func (r *Receiver) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // cut in the middle: nothing has arrived
	}
	stamp, err := books.StampOf(body)
	if err != nil {
		http.Error(w, "not of this bench", http.StatusBadRequest)
		return
	}
	now := time.Now()
	behaviour := r.behaviour.Load()
	accepted := r.note(stamp, now, behaviour)
	if wait(req.Context(), *behaviour) != nil {
		panic(http.ErrAbortHandler) // the sender has gone
	}
	if !accepted {
		http.Error(w, "try again", http.StatusServiceUnavailable)
	}
}

func (r *Receiver) note(s books.Stamp, now time.Time, b *Behaviour) (accepted bool) {
	r.mu.Lock()
	r.attempts = append(r.attempts, now)
	r.mu.Unlock()
	r.books.Arrived(s, now, func(before int) bool {
		accepted = b.accepts(s, before)
		return accepted
	})
	return accepted
}

var errGone = errors.New("the sender has gone")

func wait(ctx context.Context, b Behaviour) error {
	if b.Hang {
		<-ctx.Done()
		return errGone
	}
	if b.Delay == 0 {
		return nil
	}
	timer := time.NewTimer(b.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return errGone
	}
}

// Attempts counts the requests that came within the span.
func (r *Receiver) Attempts(span books.Span) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, at := range r.attempts {
		if span.Holds(at) {
			n++
		}
	}
	return n
}

// First is when the first request after a moment came; false when none has.
func (r *Receiver) First(after time.Time) (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, at := range r.attempts {
		if at.After(after) {
			return at, true
		}
	}
	return time.Time{}, false
}
