package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/storm/books"
)

// good is a result within the bounds of strict.
func good() *Result {
	return &Result{
		Row: "kill-sink", Faults: Faults{What: "kills", Claimed: 2, Injected: 2}, Tally: books.Tally{Sent: 1000, Doubled: 9},
		Before: withP99(10), During: withP99(12), After: withP99(10),
	}
}

func withP99(p99 int) books.Phase {
	return books.Phase{Count: 100, P50: time.Millisecond, P99: time.Duration(p99) * time.Millisecond}
}

func strict() Bounds {
	return Bounds{MinSent: 1000, MaxDoubled: 128, DoubledRate: 0.01, MaxSlowdown: 1.25}
}

func TestJudge(t *testing.T) {
	cases := map[string]struct {
		change func(*Result, *Bounds)
		want   []string
	}{
		"all holds": {func(*Result, *Bounds) {}, nil},
		"fewer faults than claimed": {
			func(r *Result, _ *Bounds) { r.Faults.Injected = 1 }, []string{"1 kills instead of 2"},
		},
		"a load that hardly ran": {
			func(r *Result, _ *Bounds) { r.Sent, r.Doubled = 999, 0 }, []string{"999 events sent instead of at least 1000"},
		},
		"one lost": {func(r *Result, _ *Bounds) { r.Lost = 1 }, []string{"1 events lost"}},
		"one dead": {func(r *Result, _ *Bounds) { r.Dead = 1 }, []string{"1 events in dead-letters instead of at most 0"}},
		"doubled within the count but not the share": {
			func(r *Result, _ *Bounds) { r.Doubled = 10 }, []string{"10 of 1000 events doubled, not below 1 %"},
		},
		"doubled within the share but not the count": {
			func(r *Result, b *Bounds) { r.Sent, r.Doubled, b.MaxDoubled = 100_000, 129, 128 }, []string{"129 events doubled instead of at most 128"},
		},
		"one where none may be": {
			func(r *Result, b *Bounds) { r.Doubled, b.MaxDoubled, b.DoubledRate = 1, 0, 0 }, []string{"1 events doubled instead of at most 0"},
		},
		"inverted": {
			func(r *Result, _ *Bounds) { r.Inverted = 1 }, []string{"1 events of a key overtook another instead of at most 0"},
		},
		"inverted where order is not promised": {func(r *Result, b *Bounds) { r.Inverted, b.MaxInverted = 1, -1 }, nil},
		"slower": {
			func(r *Result, _ *Bounds) { r.During = withP99(13) }, []string{"p99 1.30 times the undisturbed one instead of at most 1.25"},
		},
		"slower without such a bound": {func(r *Result, b *Bounds) { r.During, b.MaxSlowdown = withP99(13), 0 }, nil},
		"nothing to compare with": {
			func(r *Result, _ *Bounds) { r.After = books.Phase{} }, []string{"p99 0.00 times the undisturbed one instead of at most 1.25"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, b := good(), strict()
			c.change(r, &b)
			r.Judge(b)
			if diff := cmp.Diff(c.want, r.Broken); diff != "" {
				t.Errorf("broken bounds (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSlowdownComparesWithBothSides(t *testing.T) {
	r := &Result{Before: withP99(10), During: withP99(30), After: withP99(20)}
	if got, ok := r.Slowdown(); !ok || got != 2 {
		t.Errorf("Slowdown: %v, %v, expected 2: the undisturbed 99th percentile is 15 ms", got, ok)
	}
}

func TestPrint(t *testing.T) {
	r := good()
	r.Note("longest exit %s", 20*time.Millisecond)
	r.Require(false, "%d events lost", 3)
	var out strings.Builder
	if err := Print(&out, r); err != nil {
		t.Fatalf("Print: %v", err)
	}
	want := "kill-sink: 2 of 2 kills, sent 1000, lost 0, dead 0, doubled 9, inverted 0, " +
		"p50/p99 before 1ms/10ms of 100, during 1ms/12ms of 100, after 1ms/10ms of 100 (1.20 times), longest exit 20ms\n" +
		"kill-sink: BROKEN: 3 events lost\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestMarkdown(t *testing.T) {
	plain := &Result{Row: "roll-sink", Faults: Faults{What: "restarts", Claimed: 3, Injected: 3}, Tally: books.Tally{Sent: 10}}
	bad := good()
	bad.Note("longest exit 1s")
	bad.Require(false, "1 events lost")
	origin := Origin{
		When: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Machine: "2 cores, linux 6, go1.26", Broker: "Embedded broker", Seed: 7, Command: "make storm",
	}
	var out strings.Builder
	if err := Markdown(&out, origin, []*Result{plain, bad}); err != nil {
		t.Fatalf("Markdown: %v", err)
	}
	want := `## Embedded broker, 2026-01-02

2 cores, linux 6, go1.26; seed 7; ` + "`make storm`" + `.

| row | injected | sent | lost | dead | doubled | inverted | p50/p99 before | during | after | figures |
|---|---|---|---|---|---|---|---|---|---|---|
| roll-sink | 3 restarts | 10 | 0 | 0 | 0 | 0 |  |  |  |  |
| kill-sink | 2 kills | 1000 | 0 | 0 | 9 | 0 | 1ms / 10ms | 1ms / 12ms | 1ms / 10ms | longest exit 1s; **broken: 1 events lost** |
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
