package ingest

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// refusalLog writes a line for each request that is not wholly accepted. It
// names codes and counts, never a key, a body or text of either. Beyond a number
// of lines a second it only counts: a client in a loop must not fill the disk.
type refusalLog struct {
	log *slog.Logger
	now func() time.Time

	mu         sync.Mutex
	second     time.Time
	lines      int
	suppressed int
}

const linesPerSecond = 10

func (l *refusalLog) write(ctx context.Context, peer string, o *outcome) {
	if o.problem == nil && len(o.rejected) == 0 {
		return
	}
	suppressed, ok := l.admit(l.now())
	if !ok {
		return
	}
	level, hint := slog.LevelInfo, hintFor(o)
	if o.status() == http.StatusServiceUnavailable || o.source != "" {
		// A source of ours loses events, or has to send them again.
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{
		slog.Int("status", o.status()),
		slog.String("source", o.source),
		slog.Int("events", o.events),
		slog.Int("rejected", len(o.rejected)),
		slog.String("peer", peer),
		slog.String("hint", hint),
	}
	if p := o.problem; p != nil {
		attrs = append(attrs, slog.String("code", string(p.Code)), slog.String("problem", p.Message))
		if p.Cause != nil {
			attrs = append(attrs, slog.String("error", p.Cause.Error()))
		}
	}
	if len(o.rejected) > 0 {
		first := o.rejected[0]
		attrs = append(attrs, slog.Int("first_index", first.Index), slog.String("first_code", string(first.Code)), slog.String("first_problem", first.Message))
	}
	if suppressed > 0 {
		attrs = append(attrs, slog.Int("suppressed", suppressed))
	}
	l.log.LogAttrs(ctx, level, "request refused", attrs...)
}

// admit reports whether another line may be written, and how many were not
// since the last one.
func (l *refusalLog) admit(now time.Time) (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if second := now.Truncate(time.Second); !second.Equal(l.second) {
		l.second, l.lines = second, 0
	}
	if l.lines == linesPerSecond {
		l.suppressed++
		return 0, false
	}
	l.lines++
	suppressed, l.suppressed = l.suppressed, 0
	return suppressed, true
}

// hintFor says what whoever reads the log can do.
func hintFor(o *outcome) string {
	switch o.status() {
	case http.StatusServiceUnavailable:
		return "the client sends the request again; see KAFKA_BROKERS and the brokers' logs"
	case http.StatusUnauthorized:
		return "compare the client's write key with the sources of the workspace"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return "point the client's endpoint or data plane at this server, without a path of its own"
	case http.StatusRequestTimeout:
		return "the client hung up or was too slow; it sends the request again"
	case http.StatusUnsupportedMediaType:
		return "switch off compression in the client"
	default:
		return hintForCode(o)
	}
}

func hintForCode(o *outcome) string {
	code := schemas.Code("")
	if o.problem != nil {
		code = o.problem.Code
	} else if len(o.rejected) > 0 {
		code = o.rejected[0].Code
	}
	if code == schemas.CodeTooLarge || code == schemas.CodeTooManyEvents {
		return "send less at a time"
	}
	return "correct the client; the event is lost"
}
