package kafka

import (
	"context"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"
)

// logger hands the client library's log to slog, two levels lower than the
// library rates it: what it calls a warning (a connection that died, a
// rebalance) it also mends by itself, and what an operator must act on is
// logged by the stage that knows what it means.
type logger struct{ log *slog.Logger }

func (l logger) Level() kgo.LogLevel {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		return kgo.LogLevelInfo
	}
	return kgo.LogLevelError
}

func (l logger) Log(level kgo.LogLevel, msg string, keyvals ...any) {
	to := slog.LevelDebug
	if level == kgo.LogLevelError {
		to = slog.LevelInfo
	}
	//nolint:sloglint // The message is the library's own text, constant there.
	l.log.Log(context.Background(), to, "kafka client: "+msg, keyvals...)
}
