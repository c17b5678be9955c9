package regulate

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/internal/workspace"
)

// Settings are what the service works with. All are needed.
type Settings struct {
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Workspace  *workspace.Live      // the sources and destinations
	Register   *regulation.Register // filled by whoever follows the topic
	Ledger     *regulation.Ledger
	Ready      func() error // nil while the brokers answer; it answers at once
}

// Service takes regulations in and carries them out. It is made by New and runs
// once.
type Service struct {
	set     Settings
	log     *slog.Logger
	metrics *metrics

	mu      sync.Mutex
	running bool
	mine    map[string]bool // regulations that this process was asked for
	ending  <-chan struct{} // closed when the service is told to stop
	stored  sync.WaitGroup  // what requests have begun
}

// New returns a service that has not yet spoken to a broker.
func New(set Settings) *Service {
	return &Service{
		set:     set,
		log:     set.Logger,
		metrics: newMetrics(set.Registerer, set.Register),
		mine:    make(map[string]bool),
	}
}

// Name is the service's name in logs.
func (s *Service) Name() string { return "regulations" }

// Run carries out what is left to do, one regulation at a time, until ctx ends;
// the step in hand is then finished. It returns nil: there is nothing that
// another attempt might not mend.
func (s *Service) Run(ctx context.Context) error {
	s.begin(ctx)
	s.stored.Go(func() { s.rekey(ctx) })
	todo := make(agenda)
	for ctx.Err() == nil {
		changed := s.set.Register.Changed()
		id, wait := todo.next(s.set.Register.Unfinished(), s.isMine, time.Now())
		if id == "" {
			s.rest(ctx, changed, wait)
			continue
		}
		err := s.carryOut(ctx, id)
		if err == nil || errors.Is(err, regulation.ErrTakenOver) {
			s.setMine(id, false)
		}
		if err != nil && ctx.Err() == nil {
			s.complain(id, err)
			todo.failed(s.progress(id), time.Now())
		}
	}
	s.end()
	s.stored.Wait()
	return nil
}

// rekeyEvery is how often suppressed users who passed by under an earlier key are written
// under the current one.
const rekeyEvery = 5 * time.Second

// rekey does so until ctx ends.
func (s *Service) rekey(ctx context.Context) {
	for s.set.Ledger.Keyed() && waiting.Sleep(ctx, rekeyEvery) {
		users, err := s.set.Ledger.Rekey(ctx)
		switch {
		case err == nil && users > 0:
			s.metrics.rekeyed.Add(float64(users))
		case err != nil && ctx.Err() == nil && !errors.Is(err, regulation.ErrTakenOver):
			s.log.Warn("suppressed users could not be written under the current key, they stay suppressed under their earlier one; tried again when they pass by", "users", users, "error", err)
		}
	}
}

// rest waits for a change, or until wait is over; zero is for ever.
func (s *Service) rest(ctx context.Context, changed <-chan struct{}, wait time.Duration) {
	var over <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-ctx.Done():
	case <-changed:
	case <-over:
	}
}

func (s *Service) begin(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.ending = true, ctx.Done()
}

func (s *Service) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
}

// isMine tells whether this process was asked for a regulation.
func (s *Service) isMine(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mine[id]
}

func (s *Service) setMine(id string, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mine {
		s.mine[id] = true
	} else {
		delete(s.mine, id)
	}
}

// progress returns how far a regulation has come; of one that is unfinished no
// longer, nothing.
func (s *Service) progress(id string) regulation.Progress {
	for _, p := range s.set.Register.Unfinished() {
		if p.ID == id {
			return p
		}
	}
	return regulation.Progress{}
}
