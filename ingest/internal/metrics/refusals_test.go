package metrics

import (
	"bytes"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/schemas"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// written returns a log without time stamps and what is written to it.
func written() (*refusals, *bytes.Buffer) {
	var b bytes.Buffer
	log := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	return newRefusals(log), &b
}

func TestRefusalLines(t *testing.T) {
	bad := decode.Refusal{Index: 1, MessageID: "m", Violation: schemas.Violation{Code: schemas.CodeTypeUnknown, Message: "found no type"}}
	for name, c := range map[string]struct {
		outcome Outcome
		want    string
	}{
		"all accepted": {Outcome{Accepted: 3, Source: "s"}, ""},
		"some refused": {
			Outcome{Accepted: 2, Source: "s", Rejected: []decode.Refusal{bad}},
			`level=WARN msg="request refused" status=200 source=s events=2 rejected=1 peer=192.0.2.7 hint="correct the client; the event is lost" first_index=1 first_code=type_unknown first_problem="found no type"` + "\n",
		},
		"no key": {
			Outcome{Problem: answer.WrongKey()},
			`level=INFO msg="request refused" status=401 source="" events=0 rejected=0 peer=192.0.2.7 hint="compare the client's write key with the sources of the workspace, and see that its source is enabled" code=invalid_write_key problem="the write key is missing, unknown or disabled"` + "\n",
		},
		"not stored": {
			Outcome{Problem: answer.Of(errors.New("no leader")), Accepted: 2, Source: "s"},
			`level=WARN msg="request refused" status=503 source=s events=2 rejected=0 peer=192.0.2.7 hint="the client sends the request again; the error says what is missing: brokers that answer (check KAFKA_BROKERS and their logs), memory for incoming requests, or a router that keeps up" code=unavailable problem="the request was not stored: send it again" error="no leader"` + "\n",
		},
		"a batch that is too large": {
			Outcome{Problem: answer.TooLong(schemas.MaxBatchBytes, true), Source: "s"},
			`level=WARN msg="request refused" status=413 source=s events=0 rejected=0 peer=192.0.2.7 hint="the whole batch is lost: have the client send fewer events at a time, or raise INGEST_MAX_BATCH_BYTES" code=too_large problem="the body is longer than 512000 bytes: send fewer calls at a time"` + "\n",
		},
		"a call that is too large": {
			Outcome{Problem: answer.TooLong(schemas.MaxCallBytes, false), Source: "s"},
			`level=WARN msg="request refused" status=400 source=s events=0 rejected=0 peer=192.0.2.7 hint="what is refused is lost: leave large or deep values out of events; each may have 32768 bytes, 512 levels and 100 characters in its messageId" code=too_large problem="the body is longer than 32768 bytes: leave large values out of the call"` + "\n",
		},
		"too many": {
			Outcome{Problem: answer.Of(&schemas.Violation{Code: schemas.CodeTooManyEvents, Message: "m"}), Source: "s"},
			`level=WARN msg="request refused" status=400 source=s events=0 rejected=0 peer=192.0.2.7 hint="the events are lost: have the client send at most 2500 at a time" code=too_many_events problem=m` + "\n",
		},
		"over its rate": {
			Outcome{Problem: answer.TooManyEvents(3), Accepted: 9, Source: "s"},
			`level=WARN msg="request refused" status=429 source=s events=9 rejected=0 peer=192.0.2.7 hint="the client sends the request again later; see INGEST_RATE_PER_SOURCE" code=too_many_requests problem="the source has sent more events than its limit allows: send the request again later"` + "\n",
		},
		"a key that is wrong again and again": {
			Outcome{Problem: answer.TooManyWrongKeys(3)},
			`level=INFO msg="request refused" status=429 source="" events=0 rejected=0 peer=192.0.2.7 hint="a client at this address keeps sending a wrong write key; see INGEST_BAD_KEYS_PER_MINUTE" code=too_many_requests problem="too many requests with a wrong write key came from this address"` + "\n",
		},
		"elsewhere": {
			Outcome{Problem: answer.NotFound()},
			`level=INFO msg="request refused" status=404 source="" events=0 rejected=0 peer=192.0.2.7 hint="point the client's endpoint or data plane at this server, without a path of its own" code=not_found problem="no such path: calls go to /v1/batch, /v1/import, or /v1/ with the type of one call"` + "\n",
		},
	} {
		log, text := written()
		c.outcome.Client = netip.MustParseAddr("192.0.2.7")
		log.write(t.Context(), noon, &c.outcome)
		if text.String() != c.want {
			t.Errorf("%s: got  %swant %s", name, text, c.want)
		}
	}
}

func TestRefusalsDoNotFillTheDisk(t *testing.T) {
	now := noon
	log, text := written()
	o := Outcome{Problem: answer.WrongKey()}
	for range 1000 {
		log.write(t.Context(), now, &o)
	}
	now = now.Add(time.Second)
	log.write(t.Context(), now, &o)
	log.write(t.Context(), now, &o)
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != linesPerSecond+2 {
		t.Fatalf("got %d lines", len(lines))
	}
	if !strings.HasSuffix(lines[linesPerSecond], "suppressed=990") || strings.Contains(lines[linesPerSecond+1], "suppressed") {
		t.Errorf("the lines after a second:\n%s\n%s", lines[linesPerSecond], lines[linesPerSecond+1])
	}
}

func TestStrangersDoNotHideWhatASourceLoses(t *testing.T) {
	log, text := written()
	for range 1000 {
		log.write(t.Context(), noon, &Outcome{Problem: answer.NotFound()})
	}
	log.write(t.Context(), noon, &Outcome{Problem: answer.TooLong(schemas.MaxCallBytes, false), Source: "s"})
	if lines := strings.Count(text.String(), "\n"); lines != linesPerSecond+1 || !strings.Contains(text.String(), "source=s") {
		t.Errorf("got %d lines:\n%s", lines, text)
	}
}
