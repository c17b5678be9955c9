package broker

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/twmb/franz-go/pkg/kfake"
)

// logger passes the broker's log on. Its information level tells of group members that come and go, which the stages
// log themselves, so it becomes debug.
type logger struct{ log *slog.Logger }

// Logf implements [kfake.Logger].
func (l logger) Logf(level kfake.LogLevel, format string, args ...any) {
	to := levelOf(level, format)
	ctx := context.Background()
	if !l.log.Enabled(ctx, to) {
		return // the broker logs for each request: the text is formatted only for somebody
	}
	l.log.Log(ctx, to, "embedded broker", "said", fmt.Sprintf(format, args...))
}

func levelOf(level kfake.LogLevel, format string) slog.Level {
	switch {
	case level == kfake.LogLevelError:
		return slog.LevelError
	// A commit that takes over 5 ms is a warning to the authors of a test, and a matter of course on a busy machine.
	case level == kfake.LogLevelWarn && !strings.HasPrefix(format, "txn: EndTxn slow"):
		return slog.LevelWarn
	default:
		return slog.LevelDebug
	}
}
