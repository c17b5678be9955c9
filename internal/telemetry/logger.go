package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/anabranch/anabranch/internal/terminal"
)

// NewLogger returns a logger that writes to w.
//
// level (LOG_LEVEL) is debug, info, warn or error; empty is info. format (LOG_FORMAT) is text or json; empty
// is text when w is a terminal, for people, and JSON otherwise, for collectors. Case does not matter in either. An
// error names the variable, its value and what was expected.
func NewLogger(w io.Writer, level, format string, isTerminal bool) (*slog.Logger, error) {
	least, err := parseLevel(level)
	if err != nil {
		return nil, err
	}
	w = terminal.Printable(w) // neither handler escapes DEL, and that of JSON no C1 controls
	options := &slog.HandlerOptions{Level: least, ReplaceAttr: readable}
	switch strings.ToLower(format) {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	case "":
		if isTerminal {
			return slog.New(slog.NewTextHandler(w, options)), nil
		}
		return slog.New(slog.NewJSONHandler(w, options)), nil
	default:
		return nil, fmt.Errorf("LOG_FORMAT=%s: expected text or json", format)
	}
}

// readable writes a duration as "1.5s" where JSON would have a number of
// nanoseconds, which nobody reads right.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// parseLevel does not use [slog.Level.UnmarshalText], which takes "info+7" and offsets that nobody meant.
func parseLevel(level string) (slog.Level, error) {
	switch strings.ToLower(level) {
	case "debug":
		return slog.LevelDebug, nil
	case "info", "":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	default:
		return 0, fmt.Errorf("LOG_LEVEL=%s: expected debug, info, warn or error", level)
	}
}
