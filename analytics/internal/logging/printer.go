package logging

import (
	"context"
	"log" //nolint:depguard // the field Logger of version 2
	"log/slog"
	"strings"
)

// Printer returns a handler that writes to a Logger of version 2: a line each, what
// went wrong always and the rest if it is verbose.
func Printer(to *log.Logger, verbose bool) slog.Handler { return printer{to: to, verbose: verbose} }

type printer struct {
	to      *log.Logger
	verbose bool
	attrs   string
}

func (p printer) Enabled(_ context.Context, level slog.Level) bool {
	return p.verbose || level >= slog.LevelWarn
}

func (p printer) Handle(_ context.Context, record slog.Record) error {
	var line strings.Builder
	line.WriteString(record.Message)
	line.WriteString(p.attrs)
	record.Attrs(func(a slog.Attr) bool {
		line.WriteString(" " + a.String())
		return true
	})
	p.to.Print(line.String())
	return nil
}

func (p printer) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		p.attrs += " " + a.String()
	}
	return p
}

// WithGroup is for slog; the client has no groups.
func (p printer) WithGroup(string) slog.Handler { return p }
