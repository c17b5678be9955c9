package logging

import (
	"io"
	"log" //nolint:depguard // the field Logger of version 2
	"log/slog"
	"math"
)

// Choose returns what a client writes to: the user's own logger before that of version
// 2, which has what the first leaves out when it is verbose, as with DEBUG=analytics in
// the environment. Either may be nil.
func Choose(own *slog.Logger, printed *log.Logger, verbose bool) slog.Handler {
	switch {
	case own != nil && printed != nil && verbose:
		return Either(own.Handler(), Printer(printed, true))
	case own != nil:
		return own.Handler()
	case printed != nil:
		return Printer(printed, verbose)
	}
	return slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.Level(math.MaxInt)})
}
