package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/logging"
)

// ErrEnded is the failure of a service whose Run returned nil before it was asked to stop.
var ErrEnded = errors.New("ended unexpectedly")

// sayEvery is how often a start that does not get on says what it waits for.
const sayEvery = 5 * time.Second

// Run runs services until ctx ends or one of them fails, and returns when all of them have returned.
//
// Starting: the services of a tier start together; the next tier starts when each of them that implements [Ready]
// is ready. There is no bound on that wait, since brokers may come up in any order; what is missing is logged every
// five seconds.
//
// Stopping, on either cause and also in the midst of starting: the last tier's context ends, Run waits for its
// services, then the tier before, and so on. A broker thus outlives the stages that commit to it. Each tier's
// context carries the values of ctx but not its end. There is no bound on that wait either: a caller that wants one
// ends the process.
//
// The result is nil when ctx ended and every service stopped in order; else the first failure, which wraps
// the service's own error behind its name. Later failures are logged.
func Run(ctx context.Context, log *slog.Logger, tiers ...[]Service) error {
	running, end := context.WithCancel(ctx)
	defer end()
	r := &runner{log: log, end: end}
	for _, services := range tiers {
		if !r.start(running, services) {
			break
		}
	}
	<-running.Done()
	return r.stop()
}

// runner is one call of [Run].
type runner struct {
	log   *slog.Logger
	end   context.CancelFunc
	tiers []*tier

	mu    sync.Mutex
	first error
}

// tier is a tier that was started.
type tier struct {
	end     context.CancelFunc
	running sync.WaitGroup
}

// start starts one tier and waits until it is ready, or until running ends: then it returns false.
func (r *runner) start(running context.Context, services []Service) bool {
	ctx, end := context.WithCancel(context.WithoutCancel(running))
	t := &tier{end: end}
	r.tiers = append(r.tiers, t)
	for _, s := range services {
		r.log.Debug("service starts", "service", s.Name())
		t.running.Go(func() { r.run(ctx, s) })
	}
	began := time.Now()
	said := logging.Sampler[string]{Every: sayEvery}
	said.Admit("", began) // not at once
	err := Wait(running, func() error {
		missing := Readiness(services...)
		if missing == nil {
			return nil
		}
		if _, ok := said.Admit("", time.Now()); ok {
			r.log.Warn("waiting for services to become ready", "waited", time.Since(began), "missing", missing)
		}
		return missing
	})
	// The services may be ready although another has failed or ctx has ended meanwhile.
	return err == nil && running.Err() == nil
}

// run runs one service to its end and judges it.
func (r *runner) run(ctx context.Context, s Service) {
	err := s.Run(ctx)
	asked := ctx.Err() != nil
	switch {
	case asked && (err == nil || errors.Is(err, context.Canceled)):
		r.log.Debug("service stopped", "service", s.Name())
	case err == nil:
		r.fail(s, ErrEnded)
	default:
		r.fail(s, err)
	}
}

// fail keeps the first failure for the result and ends everything.
func (r *runner) fail(s Service, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == nil {
		r.first = fmt.Errorf("%s: %w", s.Name(), err)
	}
	r.log.Error("service failed", "service", s.Name(), "error", err)
	r.end()
}

// stop ends the tiers that were started, last first, and returns the first failure of all.
func (r *runner) stop() error {
	for _, t := range slices.Backward(r.tiers) {
		t.end()
		t.running.Wait()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first
}
