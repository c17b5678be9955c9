package attempt

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/webhook-sink/internal/body"
)

// spec.md, Errors: a timeout error is logged.
func TestTimeoutsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		b := newBooth(t, map[string]receiver{"a": after(time.Hour, always(200))}, func(o *Options) {
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		})
		b.Attempt(t.Context(), receiving("a"), nil, []byte(purchase), false)
		for _, want := range []string{"level=WARN", "destination=crm", "endpoint=1", "reason=timeout"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("log lacks %s: %s", want, log.String())
			}
		}
	})
}

// Whatever becomes of an attempt, what it knows stays out of outcomes, metrics
// and logs.
func TestSecretsStayInside(t *testing.T) {
	const canary = "cAnArY"
	dest := &workspace.Destination{ID: "crm", Type: workspace.TypeWebhooks, SharedSecret: canary}
	url := func(host string) string {
		return "http://" + canary + ":" + canary + "@" + host + "/" + canary + "?token=" + canary
	}
	headers := []workspace.Header{{Name: "Authorization", Value: canary}, {Name: "X-Token", Value: canary}}
	bad := []workspace.Header{{Name: "X-Token", Value: canary + "\n"}} // net/http refuses it
	quoting := func() string {
		return "HTTP/1.1 999 " + canary + "\r\n" + canary + "\r\n\r\n"
	}
	hosts := map[string]receiver{
		"ok": always(200), "gone": always(410, "Location: "+canary, "Retry-After: "+canary), "busy": always(503, "Retry-After: "+canary),
		"mute": func() string { return "" }, "quoting": quoting,
	}
	var log bytes.Buffer
	b := newBooth(t, hosts, func(o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	var said strings.Builder
	for _, host := range []string{"ok", "gone", "busy", "mute", "quoting", "nowhere", "127.0.0.1", "[::1", "a b"} {
		for _, static := range [][]workspace.Header{headers, bad} {
			dest := *dest
			dest.ID = fmt.Sprintf("crm-%d", said.Len()) // another one each time, so that all is logged
			dest.Endpoints = []workspace.Endpoint{{URL: url(host), Headers: static}}
			got := b.Attempt(t.Context(), &dest, nil, []byte(strings.Replace(purchase, "Bought", canary, 1)), false)
			said.WriteString(got.Detail + " " + string(got.Reason) + "\n")
		}
	}
	invalid := b.Attempt(t.Context(), dest, nil, []byte(`{"type":"`+canary+`"}`), false)
	said.WriteString(invalid.Detail + "\n" + strings.Join(b.observed, "\n") + "\n")
	_, _ = io.Copy(&said, &log)

	if lines := strings.Count(said.String(), "level=WARN"); lines != 17 {
		t.Fatalf("%d failures logged, want all 17: what is not logged is not looked at", lines)
	}
	for _, form := range []string{canary, base64.StdEncoding.EncodeToString([]byte(canary + ":" + canary)), signed(canary)} {
		if at := strings.Index(strings.ToLower(said.String()), strings.ToLower(form)); at >= 0 {
			t.Errorf("%q was said: …%s", form, said.String()[max(0, at-200):min(said.Len(), at+50)])
		}
	}
}

// A line about a failure names an event to look for; the trace names itself.
func TestFailuresNameTheirEvent(t *testing.T) {
	var log bytes.Buffer
	b := newBooth(t, map[string]receiver{"a": always(503)}, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	b.Attempt(t.Context(), receiving("a"), nil, []byte(purchase), false)
	if !strings.Contains(log.String(), "message_id=m-1 ") {
		t.Errorf("log: %s", log.String())
	}
	if got := body.MessageID([]byte("no JSON")); got != "" {
		t.Errorf("the messageId of nothing is %q", got)
	}
}
