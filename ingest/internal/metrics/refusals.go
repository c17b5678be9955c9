package metrics

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/schemas"
)

// refusals writes a line for each request that is not wholly accepted, up to some
// lines a second; beyond, it only counts. Requests without a good key are counted
// apart: whoever tries paths and keys out must not hide what our sources lose.
type refusals struct {
	log *slog.Logger

	lines logging.Sampler[bool] // of sources of ours, and of strangers
}

const linesPerSecond = 10

func newRefusals(log *slog.Logger) *refusals {
	return &refusals{log: log, lines: logging.Sampler[bool]{Every: time.Second, Lines: linesPerSecond}}
}

func (l *refusals) write(ctx context.Context, now time.Time, o *Outcome) {
	if o.Problem == nil && len(o.Rejected) == 0 {
		return
	}
	suppressed, ok := l.lines.Admit(o.Source != "", now)
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

const wrongKeyHint = "compare the client's write key with the sources of the workspace, and see that its source is enabled"

// hintFor says what whoever reads the log can do.
func hintFor(o *Outcome) string {
	if o.Status() == http.StatusNotFound && o.Problem.Code == answer.CodeWriteKey {
		return wrongKeyHint
	}
	switch o.Status() {
	case http.StatusServiceUnavailable:
		return "the client sends the request again; the error says what is missing: brokers that answer (check KAFKA_BROKERS and their logs), memory for incoming requests, or a router that keeps up"
	case http.StatusTooManyRequests:
		return hintForTooMany(o)
	case http.StatusUnauthorized:
		return wrongKeyHint
	case http.StatusForbidden:
		return "give the destination whose endpoint is this collection API another one"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return "point the client's endpoint or data plane at this server, without a path of its own"
	case http.StatusRequestTimeout:
		return "the client hung up or was too slow; it sends the request again"
	case http.StatusRequestEntityTooLarge:
		return longBatchHint
	case http.StatusUnsupportedMediaType:
		return "have the client compress with gzip, or not at all"
	default:
		return hintForCode(o)
	}
}

func hintForTooMany(o *Outcome) string {
	if o.Source == "" {
		return "a client at this address keeps sending a wrong write key; see INGEST_BAD_KEYS_PER_MINUTE"
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

const longBatchHint = "the whole batch is lost: have the client send fewer events at a time, or raise INGEST_MAX_BATCH_BYTES"

var (
	tooLargeHint = fmt.Sprintf("what is refused is lost: leave large or deep values out of events; each may have %d bytes, %d levels and %d characters in its messageId", schemas.MaxCallBytes, schemas.MaxDepth, schemas.MaxMessageIDChars)
	tooManyHint  = fmt.Sprintf("the events are lost: have the client send at most %d at a time", schemas.MaxBatchEvents)
)
