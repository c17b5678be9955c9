package logging

import (
	"context"
	"log/slog"
)

// Guard returns a handler that passes records on, and survives a panic of the
// handler that it passes them to: a program does not end for a line of its log.
// panicked is told.
func Guard(to slog.Handler, panicked func()) slog.Handler { return guard{to, panicked} }

type guard struct {
	slog.Handler

	panicked func()
}

func (g guard) recover() {
	if recover() != nil {
		g.panicked()
	}
}

func (g guard) Enabled(ctx context.Context, level slog.Level) bool {
	defer g.recover()
	return g.Handler.Enabled(ctx, level)
}

func (g guard) Handle(ctx context.Context, record slog.Record) error {
	defer g.recover()
	return g.Handler.Handle(ctx, record)
}

// Either returns a handler that has the second one write what the first would not.
func Either(first, second slog.Handler) slog.Handler { return either{first, second} }

type either struct {
	slog.Handler
	second slog.Handler
}

func (e either) Enabled(ctx context.Context, level slog.Level) bool {
	return e.Handler.Enabled(ctx, level) || e.second.Enabled(ctx, level)
}

func (e either) Handle(ctx context.Context, record slog.Record) error {
	if e.Handler.Enabled(ctx, record.Level) {
		return e.Handler.Handle(ctx, record)
	}
	return e.second.Handle(ctx, record)
}
