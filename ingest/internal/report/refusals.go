package report

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// refusals writes a line for each request that is not wholly accepted, up to some
// lines a second; beyond, it only counts. Requests without a good key are counted
// apart: whoever tries paths and keys out must not hide what our sources lose.
type refusals struct {
	log *slog.Logger

	mu                 sync.Mutex
	sources, strangers lines
}

// lines are those of a second.
type lines struct {
	second     time.Time
	written    int
	suppressed int // since the last that was written
}

const linesPerSecond = 10

func (l *refusals) write(ctx context.Context, now time.Time, o *Outcome) {
	if o.Problem == nil && len(o.Rejected) == 0 {
		return
	}
	suppressed, ok := l.admit(now, o)
	if !ok {
		return
	}
	level, hint := slog.LevelInfo, hintFor(o)
	if o.Status() == http.StatusServiceUnavailable || o.Source != "" {
		// A source of ours loses events, or has to send them again.
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{
		slog.Int("status", o.Status()),
		slog.String("source", o.Source),
		slog.Int("events", o.Accepted),
		slog.Int("rejected", len(o.Rejected)),
		slog.String("peer", o.Client.String()),
		slog.String("hint", hint),
	}
	if p := o.Problem; p != nil {
		attrs = append(attrs, slog.String("code", string(p.Code)), slog.String("problem", p.Message))
		if p.Cause != nil {
			attrs = append(attrs, slog.Any("error", p.Cause))
		}
	}
	if len(o.Rejected) > 0 {
		first := o.Rejected[0]
		attrs = append(attrs, slog.Int("first_index", first.Index), slog.String("first_code", string(first.Code)), slog.String("first_problem", first.Message))
	}
	if suppressed > 0 {
		attrs = append(attrs, slog.Int("suppressed", suppressed))
	}
	l.log.LogAttrs(ctx, level, "request refused", attrs...)
}

// admit reports whether another line may be written, and how many were not
// since the last one.
func (l *refusals) admit(now time.Time, o *Outcome) (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.Source == "" {
		return l.strangers.admit(now)
	}
	return l.sources.admit(now)
}

func (l *lines) admit(now time.Time) (suppressed int, ok bool) {
	if second := now.Truncate(time.Second); !second.Equal(l.second) {
		l.second, l.written = second, 0
	}
	if l.written == linesPerSecond {
		l.suppressed++
		return 0, false
	}
	l.written++
	suppressed, l.suppressed = l.suppressed, 0
	return suppressed, true
}

// hintFor says what whoever reads the log can do.
func hintFor(o *Outcome) string {
	switch o.Status() {
	case http.StatusServiceUnavailable:
		return "the client sends the request again; the error says what is missing: brokers that answer (KAFKA_BROKERS and their logs), memory for what comes in, or a router that keeps up"
	case http.StatusTooManyRequests:
		return hintForTooMany(o)
	case http.StatusUnauthorized:
		return "compare the client's write key with the sources of the workspace, and see that its source is enabled"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return "point the client's endpoint or data plane at this server, without a path of its own"
	case http.StatusRequestTimeout:
		return "the client hung up or was too slow; it sends the request again"
	case http.StatusRequestEntityTooLarge:
		return longBatchHint
	case http.StatusUnsupportedMediaType:
		return "let the client compress with gzip, or not at all"
	default:
		return hintForCode(o)
	}
}

func hintForTooMany(o *Outcome) string {
	if o.Source == "" {
		return "a client at this address has a wrong write key and does not stop; see INGEST_BAD_KEYS_PER_MINUTE"
	}
	return "the client sends the request again later; see INGEST_RATE_PER_SOURCE"
}

func hintForCode(o *Outcome) string {
	code := schemas.Code("")
	if o.Problem != nil {
		code = o.Problem.Code
	} else if len(o.Rejected) > 0 {
		code = o.Rejected[0].Code
	}
	switch code {
	case schemas.CodeTooLarge:
		return tooLargeHint
	case schemas.CodeTooManyEvents:
		return tooManyHint
	default:
		return "correct the client; the event is lost"
	}
}

const longBatchHint = "the whole batch is lost: let the client send fewer events at a time, or set INGEST_MAX_BATCH_BYTES"

var (
	tooLargeHint = fmt.Sprintf("what is refused is lost: leave large or deep values out of events; each may have %d bytes, %d levels and %d characters in its messageId", schemas.MaxCallBytes, schemas.MaxDepth, schemas.MaxMessageIDChars)
	tooManyHint  = fmt.Sprintf("the events are lost: let the client send at most %d at a time", schemas.MaxBatchEvents)
)
