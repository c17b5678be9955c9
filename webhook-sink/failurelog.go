package webhooksink

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// failureLogEvery is how often one destination may be logged to fail for one
// reason. A dead endpoint at full concurrency fails a dozen times a second.
const failureLogEvery = 10 * time.Second

// failureLog logs failed POSTs (spec.md, Errors: "a timeout error is logged"),
// the first of a kind at once and then at most one in failureLogEvery, with the
// number passed over.
type failureLog struct {
	log *slog.Logger

	mu    sync.Mutex
	kinds map[failureKind]*failureCount
}

// failureKind is bounded: a configured destination and one of the closed set of
// reasons.
type failureKind struct {
	destination string
	reason      schemas.Reason
}

type failureCount struct {
	logged time.Time
	passed int
}

func (f *failureLog) failed(ctx context.Context, destination string, r *result) {
	passed, ok := f.admit(failureKind{destination: destination, reason: r.Reason}, time.Now())
	if !ok {
		return
	}
	f.log.WarnContext(ctx, "delivery to an endpoint ended without success",
		"destination", destination, "endpoint", r.position, "reason", string(r.Reason),
		"detail", r.Detail, "cause", r.Cause, "passed_over", passed)
}

// admit reports whether a failure of this kind may be logged now, and how many
// were not since the last that was.
func (f *failureLog) admit(kind failureKind, now time.Time) (passed int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	count := f.kinds[kind]
	if count == nil {
		if f.kinds == nil {
			f.kinds = make(map[failureKind]*failureCount)
		}
		count = &failureCount{}
		f.kinds[kind] = count
	} else if now.Sub(count.logged) < failureLogEvery {
		count.passed++
		return 0, false
	}
	passed, count.passed, count.logged = count.passed, 0, now
	return passed, true
}
