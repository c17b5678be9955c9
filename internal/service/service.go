package service

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pollEvery is how often [Wait] asks again: short against anything a person notices, long against the cost of asking.
const pollEvery = 10 * time.Millisecond

// A Service is one part of a process.
//
// Name is a short lower-case word for logs and errors ("router"). It is constant, and may be called at any time.
//
// Run does the work of the service and blocks until it has ended:
//   - When ctx ends the service stops taking work, finishes the unit in hand on a context of its own with a bound of
//     its own, releases what it holds, and returns nil. It has then no goroutine left.
//   - When it can't go on it returns an error, which ends the whole process. An error that wraps
//     [context.Canceled] after ctx has ended is an orderly stop too: a service that is interrupted while
//     it still connects has nothing else to say.
//   - Returning nil while ctx has not ended is a failure ([ErrEnded]): the process would go on without a part.
//   - A panic is not recovered: state that is half changed must not be carried on.
//
// Run is called at most once. A service on which it was never called has started no goroutine.
type Service interface {
	Name() string
	Run(ctx context.Context) error
}

// Ready is implemented by a [Service] that can't do its work from the first moment of Run.
//
// Ready returns nil when the service does its work now, else an error that says what is missing, in words for the
// operator and without secrets. It answers at once from what is known (it is asked every few milliseconds), may be
// called from several goroutines, before Run, during it and after it, and may become an error again later.
type Ready interface {
	Ready() error
}

// Readiness returns nil when each service that implements [Ready] is ready, else one line for each that is not:
// "router: waiting for partitions". Services without the method count as ready.
func Readiness(services ...Service) error {
	var missing []error
	for _, s := range services {
		r, ok := s.(Ready)
		if !ok {
			continue
		}
		if err := r.Ready(); err != nil {
			missing = append(missing, fmt.Errorf("%s: %w", s.Name(), err))
		}
	}
	return errors.Join(missing...)
}

// Wait calls check at once and then every ten milliseconds, until it returns nil. When ctx ends first it returns an
// error that wraps both the end of ctx and what check said last.
func Wait(ctx context.Context, check func() error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		missing := check()
		if missing == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait: %w; missing: %w", ctx.Err(), missing)
		}
	}
}
