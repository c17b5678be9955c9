package analyticstest

import (
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// patience is how long Wait waits.
const patience = 10 * time.Second

// Inbox takes requests, and keeps their messages.
type Inbox struct {
	tb testing.TB

	mu       sync.Mutex
	messages []Message
	status   int           // of answers; 0 for success
	changed  chan struct{} // closed with the next change
}

func newInbox(tb testing.TB) *Inbox {
	tb.Helper()
	return &Inbox{tb: tb, changed: make(chan struct{})}
}

// ServeHTTP answers a request of a client's.
func (b *Inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := content(r)
	if err != nil { // the client has gone, or sends what it should not
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.status != 0 {
		w.WriteHeader(b.status)
		return
	}
	b.messages = append(b.messages, read(b.tb, body)...)
	close(b.changed)
	b.changed = make(chan struct{})
	_, _ = io.WriteString(w, `{"success":true}`)
}

func content(r *http.Request) ([]byte, error) {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(r.Body)
	}
	plain, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(plain)
}

// Messages returns what has arrived so far, in the order of arrival.
func (b *Inbox) Messages() []Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.messages)
}

// Wait waits until at least n messages have arrived and returns all that have. The
// test fails, and ends, when they have not after ten seconds.
func (b *Inbox) Wait(n int) []Message {
	b.tb.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		b.mu.Lock()
		messages, changed := slices.Clone(b.messages), b.changed
		b.mu.Unlock()
		if len(messages) >= n {
			return messages
		}
		select {
		case <-changed:
		case <-deadline.C:
			b.tb.Fatalf("analyticstest: %d of %d messages have arrived after %s", len(messages), n, patience)
		}
	}
}

func (b *Inbox) failing() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.status != 0
}

// Fail has requests answered with a status from now on, as 503, and nothing kept of
// them; 0 ends that.
func (b *Inbox) Fail(status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status = status
}
