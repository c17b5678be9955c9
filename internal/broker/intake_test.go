package broker

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/anabranch/anabranch/test/testkit"
)

func TestUnread(t *testing.T) {
	segments := []segment{{base: 0, size: 100}, {base: 10, size: 200}, {base: 20, size: 300}}
	tests := map[string]struct {
		reach reach
		want  int64
	}{
		"nothing read":                  {reach{0, 30}, 600},
		"all read":                      {reach{30, 30}, 0},
		"whole segments":                {reach{10, 30}, 500},
		"half of the first":             {reach{5, 30}, 550},
		"a tenth of the last is left":   {reach{29, 30}, 30},
		"the log begins behind":         {reach{0, 20}, 300},
		"an empty last segment":         {reach{10, 20}, 200},
		"more than there is, at a stop": {reach{40, 30}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := unread(segments, test.reach); got != test.want {
				t.Errorf("unread = %d, want %d", got, test.want)
			}
		})
	}
	if got := unread(nil, reach{0, 30}); got != 0 {
		t.Errorf("of no segments %d bytes are unread", got)
	}
}

// An import stands at the limit for minutes: it is told to wait again and again, and the log hears of it once.
func TestTheIntakeRefusesAtItsLimit(t *testing.T) {
	var log strings.Builder
	b := &Broker{intake: newIntake(&Config{Intake: "events", MaxUnread: 1000}, slog.New(slog.NewTextHandler(&log, nil)))}
	steps := []struct {
		unread int64
		full   bool
		lines  int // in the log so far
	}{
		{0, false, 0},
		{999, false, 0},
		{1000, true, 1},
		{950, true, 1},
		{899, false, 1},
		{1200, true, 1},
		{500, false, 1},
		{499, false, 2},
		{999, false, 2},
		{1000, true, 3},
		{0, false, 4},
	}
	for i, step := range steps {
		b.intake.judge(step.unread)
		if err := b.Full(); (err != nil) != step.full {
			t.Errorf("step %d: with %d bytes unread Full() = %v, want full: %t", i, step.unread, err, step.full)
		}
		if lines := strings.Count(log.String(), "\n"); lines != step.lines {
			t.Errorf("step %d: the log has %d lines, want %d:\n%s", i, lines, step.lines, log.String())
		}
	}
}

func TestABrokerIsFullUntilItsReaderCatchesUp(t *testing.T) {
	dir, registry := t.TempDir(), prometheus.NewPedanticRegistry()
	b := retaining(t, dir, readBy(), func(cfg *Config) {
		cfg.Intake, cfg.MaxUnread, cfg.Registerer = "events", 1500, registry
	})
	becomes := func(full bool) {
		t.Helper()
		eventually(t, func() error {
			if err := b.Full(); (err != nil) != full {
				return errFull(full)
			}
			return nil
		})
	}
	becomes(false) // a topic that does not exist holds nothing
	create(t, b, "events", 1, "segment.bytes", "100", "retention.ms", "-1")
	fill(t, b, "events")
	becomes(true)
	if err := b.Full(); !strings.Contains(err.Error(), "BROKER_MAX_UNROUTED_BYTES=1500") {
		t.Errorf("Full() = %v, which does not name the setting", err)
	}
	commit(t, b, "events", 10)
	becomes(false)
	for name, want := range map[string]float64{"anabranch_broker_unrouted_bytes": 0, "anabranch_broker_unrouted_limit_bytes": 1500} {
		if got := testkit.Series(t, registry, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if n, err := testutil.GatherAndCount(registry); err != nil || n != 2 {
		t.Errorf("%d series (%v), want 2", n, err)
	}
}

// errFull says that the broker has not become what it should.
type errFull bool

func (e errFull) Error() string {
	if e {
		return "the broker takes more"
	}
	return "the broker is full"
}
