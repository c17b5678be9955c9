package metrics

import (
	"bytes"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/ingest/internal/timestamp"
)

func TestNotices(t *testing.T) {
	var text bytes.Buffer
	log := newNotices(slog.New(slog.NewTextHandler(&text, nil)))
	const (
		clock = `level=WARN msg="the clock of a client is wrong" source=a ahead=-2h0m0s events=3 peer=192.0.2.7 hint=`
		times = `level=WARN msg="timestamps of a client can't be read" source=a time_stamps=5 peer=192.0.2.7 hint=`
		plan  = `level=WARN msg="the tracking plan blocks events" source=a events=4 hint=`
		proxy = `level=WARN msg="the address of a proxy is stored as the address of visitors" source=a peer=192.0.2.7 hint="add`
	)
	wrong := Outcome{Source: "a", Skew: timestamp.Skew{Calls: 3, Ahead: -2 * time.Hour}}
	blocked := Outcome{Source: "a", Blocked: 4}
	other := wrong
	other.Source = "b"
	for _, step := range []struct {
		name    string
		after   time.Duration
		outcome Outcome
		want    string // a part of the one line; "" for none
	}{
		{"nothing to tell", 0, Outcome{Source: "a", Accepted: 1, Suppressed: 1, Violating: 1}, ""},
		{"a request that comes again", 0, Outcome{Source: "a", Skew: timestamp.Skew{Calls: 1}, Blocked: 1, Problem: answer.TooManyEvents(1)}, ""},
		{"the first", 0, wrong, clock},
		{"another matter", 0, blocked, plan},
		{"time stamps", 0, Outcome{Source: "a", Unreadable: 5}, times},
		{"a third one", 0, Outcome{Source: "a", Proxied: true}, proxy},
		{"within the minute", noticeEvery - 1, wrong, ""},
		{"another source", noticeEvery - 1, other, "source=b"},
		{"after a minute", noticeEvery, wrong, clock},
		{"the other matter after a minute", noticeEvery, blocked, plan},
	} {
		text.Reset()
		step.outcome.Client = netip.MustParseAddr("192.0.2.7")
		log.write(t.Context(), noon.Add(step.after), &step.outcome)
		lines := strings.Count(text.String(), "\n")
		if step.want == "" && lines != 0 || step.want != "" && (lines != 1 || !strings.Contains(text.String(), step.want)) {
			t.Errorf("%s: got %s", step.name, &text)
		}
	}
}
