package regulate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/regulation"
)

const (
	// createTimeout bounds a request, also while the process stops, which is cut off
	// eight seconds after it was told to.
	createTimeout = 5 * time.Second

	// lookEvery is how often a request looks whether the brokers still answer: it
	// is to be refused within two seconds of an outage.
	lookEvery = 100 * time.Millisecond
)

// Why a request was not taken in.
var (
	errStopped = errors.New("the process is not serving regulations at the moment")
	errLate    = fmt.Errorf("the brokers have not stored it within %s", createTimeout)
)

// create stores a regulation and returns when it is in force in this process.
// After an error it may still come into force; to ask once more is harmless but
// for a second notification.
func (s *Service) create(req request) (regulation.Regulation, error) {
	if err := s.set.Ready(); err != nil {
		return regulation.Regulation{}, err
	}
	r := regulation.New(req.kind, len(req.users), time.Now())
	ctx, cancel := context.WithTimeout(context.Background(), createTimeout)
	defer cancel()
	stored := make(chan error, 1)
	// A goroutine of its own, which the service waits for: what a transaction takes
	// to fail is longer than a client should wait.
	if !s.goOn(func() { stored <- s.store(ctx, r, req.users) }) {
		return r, errStopped
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-stored:
			if err != nil && ctx.Err() != nil {
				err = errors.Join(errLate, err)
			}
			return r, err
		case <-tick.C:
			if err := s.set.Ready(); err != nil {
				return r, err
			}
		}
	}
}

// goOn calls f on a goroutine of the service; false when that does not run.
func (s *Service) goOn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running {
		return false
	}
	select {
	case <-s.ending:
		return false
	default:
		s.stored.Go(f)
		return true
	}
}

// store writes a regulation and waits until it has come back from the topic: from
// then on its users are suppressed here, in the order of all requests.
func (s *Service) store(ctx context.Context, r regulation.Regulation, users []string) error {
	s.setMine(r.ID, r.Type.Deletes())
	if err := s.set.Ledger.Create(ctx, r, users); err != nil {
		s.setMine(r.ID, false)
		return err
	}
	for {
		changed := s.set.Register.Changed()
		if _, ok := s.set.Register.Get(r.ID); ok {
			s.metrics.requests[r.Type].Inc()
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for regulation %s to come into force: %w", r.ID, context.Cause(ctx))
		}
	}
}
