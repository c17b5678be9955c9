package webhooksink

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// ledger is a receiver that keeps books. Its answers are the test's.
type ledger struct {
	service time.Duration // an attempt takes
	// answer decides the outcome of an attempt; nil is delivered.
	answer func(destination, messageID string, attempt int) outcome.Outcome

	mu        sync.Mutex
	attempts  map[string]int // by message id
	delivered []string       // message ids, as they ended
	times     map[string]time.Time
	flying    map[string]int // by destination
	peak      map[string]int
}

func newLedger(service time.Duration) *ledger {
	return &ledger{
		service: service, attempts: make(map[string]int), times: make(map[string]time.Time),
		flying: make(map[string]int), peak: make(map[string]int),
	}
}

func (l *ledger) attempt(ctx context.Context, dest *workspace.Destination, messageID string) outcome.Outcome {
	attempt := l.arrive(dest.ID, messageID)
	defer l.leave(dest.ID)
	o := outcome.Outcome{Verdict: outcome.Delivered}
	if l.answer != nil {
		o = l.answer(dest.ID, messageID, attempt)
	}
	if !waiting.Sleep(ctx, l.service) {
		return outcome.Outcome{Verdict: outcome.Abandoned}
	}
	if o.Verdict == outcome.Delivered {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.delivered = append(l.delivered, messageID)
		l.times[messageID] = time.Now()
	}
	return o
}

func (l *ledger) arrive(id, messageID string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempts[messageID]++
	l.flying[id]++
	l.peak[id] = max(l.peak[id], l.flying[id])
	return l.attempts[messageID]
}

func (l *ledger) leave(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flying[id]--
}

// all returns the message ids delivered so far.
func (l *ledger) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.delivered)
}

func (l *ledger) inFlight(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flying[id]
}

// once fails the test unless exactly these were delivered, each once.
func (l *ledger) once(t *testing.T, want []string) {
	t.Helper()
	got, want := l.all(), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	distinct := slices.Compact(slices.Clone(got))
	if !slices.Equal(distinct, want) {
		t.Errorf("%d distinct events delivered, expected %d", len(distinct), len(want))
	}
	if len(got) != len(distinct) {
		t.Errorf("%d events delivered twice", len(got)-len(distinct))
	}
}

// failed is an outcome to be repeated.
func failed(reason schemas.Reason) outcome.Outcome {
	return outcome.Outcome{Verdict: outcome.Retry, Reason: reason, Detail: string(reason), Endpoints: []uint64{1}}
}

// tries is how many attempts were made at an event.
func (l *ledger) tries(messageID string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.attempts[messageID]
}
