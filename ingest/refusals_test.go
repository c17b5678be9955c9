package ingest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/schemas"
)

// newRefusalLog returns a log without time stamps and what is written to it.
func newRefusalLog(now func() time.Time) (*refusalLog, *bytes.Buffer) {
	var b bytes.Buffer
	log := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	return &refusalLog{log: log, now: now}, &b
}

func TestRefusalLines(t *testing.T) {
	bad := decode.Refusal{Index: 1, MessageID: "m", Violation: schemas.Violation{Code: schemas.CodeTypeUnknown, Message: "found no type"}}
	for name, c := range map[string]struct {
		outcome outcome
		want    string
	}{
		"all accepted": {outcome{events: 3, source: "s"}, ""},
		"some refused": {
			outcome{events: 2, source: "s", rejected: []decode.Refusal{bad}},
			`level=WARN msg="request refused" status=200 source=s events=2 rejected=1 peer=peer hint="correct the client; the event is lost" first_index=1 first_code=type_unknown first_problem="found no type"` + "\n",
		},
		"no key": {
			outcome{problem: answer.WrongKey()},
			`level=INFO msg="request refused" status=401 source="" events=0 rejected=0 peer=peer hint="compare the client's write key with the sources of the workspace" code=invalid_write_key problem="the write key is missing, unknown or disabled"` + "\n",
		},
		"not stored": {
			outcome{problem: answer.Of(errors.New("no leader")), events: 2, source: "s"},
			`level=WARN msg="request refused" status=503 source=s events=2 rejected=0 peer=peer hint="the client sends the request again; see KAFKA_BROKERS and the brokers' logs" code=unavailable problem="the request was not stored: send it again" error="no leader"` + "\n",
		},
		"too large": {
			outcome{problem: answer.TooLong(schemas.MaxBatchBytes, true), source: "s"},
			`level=WARN msg="request refused" status=413 source=s events=0 rejected=0 peer=peer hint="send less at a time" code=too_large problem="the body is longer than 512000 bytes"` + "\n",
		},
		"elsewhere": {
			outcome{problem: answer.NotFound()},
			`level=INFO msg="request refused" status=404 source="" events=0 rejected=0 peer=peer hint="point the client's endpoint or data plane at this server, without a path of its own" code=not_found problem="no such path: calls go to /v1/batch, /v1/import, or /v1/ with the type of one call"` + "\n",
		},
	} {
		log, text := newRefusalLog(time.Now)
		log.write(context.Background(), "peer", &c.outcome)
		if text.String() != c.want {
			t.Errorf("%s: got  %swant %s", name, text, c.want)
		}
	}
}

func TestRefusalsDoNotFillTheDisk(t *testing.T) {
	now := noon
	log, text := newRefusalLog(func() time.Time { return now })
	o := outcome{problem: answer.WrongKey()}
	for range 1000 {
		log.write(t.Context(), "peer", &o)
	}
	now = now.Add(time.Second)
	log.write(t.Context(), "peer", &o)
	log.write(t.Context(), "peer", &o)
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != linesPerSecond+2 {
		t.Fatalf("got %d lines", len(lines))
	}
	if !strings.HasSuffix(lines[linesPerSecond], "suppressed=990") || strings.Contains(lines[linesPerSecond+1], "suppressed") {
		t.Errorf("the lines after a second:\n%s\n%s", lines[linesPerSecond], lines[linesPerSecond+1])
	}
}

// TestNothingTellsAKey sends a key by every way, good and bad, and looks for it
// in everything that comes out.
func TestNothingTellsAKey(t *testing.T) {
	const canary = "wk-canary-4711"
	s := start(t, testkit.Brokers(t))
	var out strings.Builder
	calls := []string{`{"userId":"u","writeKey":"` + canary + `"`, `{"batch":[{"type":"identify","userId":"u","writeKey":"` + canary + `"},{"type":"` + canary[:1] + `","writeKey":"` + canary + `"}],"writeKey":"` + canary + `"`}
	for _, path := range []string{"/v1/identify", "/v1/batch", "/v1/identify?writeKey=" + canary, "/" + canary} {
		for _, call := range calls {
			for _, end := range []string{`}`, `}}`, `,"event":` + canary + `}`} {
				for _, option := range []func(*http.Request){
					func(*http.Request) {},
					noAuth,
					func(r *http.Request) { r.SetBasicAuth(canary, canary) },
					with("Authorization", "Basic "+canary),
				} {
					a := s.post(t, path, call+end, option)
					out.WriteString(a.body)
					for name, value := range a.header {
						out.WriteString(name + strings.Join(value, ""))
					}
				}
			}
		}
	}
	accepted := int(s.value(t, "anabranch_ingest_events_total", "accepted"))
	if accepted == 0 {
		t.Fatal("nothing was accepted: the test shows nothing")
	}
	for _, text := range s.stored(t, accepted) {
		out.WriteString(text)
	}
	for name := range values(t, s.registry) {
		out.WriteString(name)
	}
	out.WriteString(s.log.String())
	if i := strings.Index(out.String(), canary); i >= 0 {
		t.Errorf("found …%s…", out.String()[max(0, i-200):i+50])
	}
}

// TestABodyThatEndsEarly closes the sending half of the connection.
func TestABodyThatEndsEarly(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const head = "POST /v1/identify HTTP/1.1\r\nHost: x\r\nAuthorization: Basic d2tfd2Vic2l0ZTo=\r\nContent-Length: 100\r\n\r\n"
	if _, err = conn.Write([]byte(head + oneCall)); err != nil {
		t.Fatal(err)
	}
	if err = conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestTimeout {
		t.Errorf("got %s", resp.Status)
	}
	s.stored(t, 0)
}
