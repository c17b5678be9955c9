package command

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// hearing bounds the time in which nothing is heard.
type hearing struct {
	timer   *time.Timer
	bound   time.Duration
	silence error
	cancel  context.CancelCauseFunc
}

// whileHeard returns a context that ends when nothing was heard for as long as bound,
// with a cause that says so. The hearing is the caller's to stop.
func whileHeard(parent context.Context, bound time.Duration) (context.Context, *hearing) {
	ctx, cancel := context.WithCancelCause(parent)
	silence := fmt.Errorf("no progress for %s: %w", bound, context.DeadlineExceeded)
	return ctx, &hearing{time.AfterFunc(bound, func() { cancel(silence) }), bound, silence, cancel}
}

// explain adds the silence to an error that it has caused, which may say no more than
// that a context was cancelled.
func (h *hearing) explain(ctx context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), h.silence) || errors.Is(err, h.silence) {
		return err
	}
	return fmt.Errorf("%w: %w", h.silence, err)
}

// again lets the time begin anew.
func (h *hearing) again() { h.timer.Reset(h.bound) }

func (h *hearing) stop() {
	h.timer.Stop()
	h.cancel(nil)
}
