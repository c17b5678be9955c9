// Package waiting has the two ways in which everything waits: for a time, unless it is
// to stop, and for what fails to succeed, after pauses that double.
package waiting

import (
	"context"
	"time"
)

const (
	// First is the pause after the first failure in a row, and longest the one that
	// doubling ends at: brokers that are back are noticed within that time.
	First   = 250 * time.Millisecond
	longest = 5 * time.Second
)

// Next is the pause after one that did not help.
func Next(pause time.Duration) time.Duration { return min(2*pause, longest) }

// Sleep waits for d and reports whether it passed before ctx was done.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Until calls do until it succeeds, and reports false when ctx ended first. failed is
// told of each failure and of the pause that follows.
func Until(ctx context.Context, do func() error, failed func(err error, pause time.Duration)) bool {
	for pause := First; ; pause = Next(pause) {
		err := do()
		if err == nil || ctx.Err() != nil {
			return err == nil
		}
		failed(err, pause)
		if !Sleep(ctx, pause) {
			return false
		}
	}
}
