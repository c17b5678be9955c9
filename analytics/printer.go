package analytics

import (
	"context"
	"log" //nolint:depguard // the field Logger of version 2
	"log/slog"
	"strings"
)

// printer writes to a Logger of version 2: a line each, what went wrong always
// and the rest if it is verbose.
type printer struct {
	to      *log.Logger
	verbose bool
	attrs   string
}

// Enabled is for slog.
func (p printer) Enabled(_ context.Context, level slog.Level) bool {
	return p.verbose || level >= slog.LevelWarn
}

// Handle is for slog.
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

// WithAttrs is for slog.
func (p printer) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		p.attrs += " " + a.String()
	}
	return p
}

// WithGroup is for slog; the client has no groups.
func (p printer) WithGroup(string) slog.Handler { return p }
