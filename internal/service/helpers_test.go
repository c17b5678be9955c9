package service_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// part is a service whose every step a test decides and sees.
type part struct {
	name    string
	seen    *journal
	work    func(ctx context.Context) error // nil: blocks until ctx ends
	stop    time.Duration                   // how long it takes to stop
	missing atomic.Pointer[string]          // nil: ready
}

func (p *part) Name() string { return p.name }

func (p *part) Run(ctx context.Context) error {
	p.seen.add("start " + p.name)
	defer p.seen.add("end " + p.name)
	if p.work != nil {
		return p.work(ctx)
	}
	<-ctx.Done()
	<-time.After(p.stop)
	return nil
}

// late is a part that is not ready from the start.
type late struct{ part }

func newLate(name string, seen *journal, missing string) *late {
	l := &late{part{name: name, seen: seen}}
	l.missing.Store(&missing)
	return l
}

func (l *late) Ready() error {
	if missing := l.missing.Load(); missing != nil {
		return errors.New(*missing)
	}
	return nil
}

// journal is what happened, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

// Write makes the journal the writer of a logger.
func (j *journal) Write(line []byte) (int, error) {
	j.add(string(line))
	return len(line), nil
}

func (j *journal) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: level}))
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
