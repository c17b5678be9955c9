package receiverfaults

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/receiver"
	"github.com/anabranch/anabranch/test/storm/report"
)

func TestSplit(t *testing.T) {
	f := &lab.Field{Receivers: make([]*receiver.Receiver, 5)}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		f.Streams = append(f.Streams, load.NewStream("r", name, "topic", 1))
	}
	hurt, healthy := split(f, []int{3, 0})
	names := func(f *lab.Field) (all []string) {
		for _, s := range f.Streams {
			all = append(all, s.Producer())
		}
		return all
	}
	if diff := cmp.Diff([]string{"a", "d"}, names(hurt)); diff != "" {
		t.Errorf("hurt (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b", "c", "e"}, names(healthy)); diff != "" {
		t.Errorf("healthy (-want +got):\n%s", diff)
	}
}

func TestJudges(t *testing.T) {
	median := func(ms int) books.Phase { return books.Phase{Count: 1, P50: time.Duration(ms) * time.Millisecond} }
	cases := map[string]struct {
		judge func(*report.Result)
		want  []string
	}{
		"a peak at its bounds": {func(r *report.Result) { judgePeak(r, maxPeak) }, nil},
		"a peak above them": {
			func(r *report.Result) { judgePeak(r, child.Gauges{Resident: 300 << 20, Goroutines: 4001}) },
			[]string{"300 MiB resident instead of at most 256", "4001 goroutines instead of at most 4000"},
		},
		"others within their bound": {
			func(r *report.Result) {
				judgeUnharmed(r, books.Phase{P99: 500 * time.Millisecond}, 500*time.Millisecond)
			}, nil,
		},
		"others beyond it": {
			func(r *report.Result) {
				judgeUnharmed(r, books.Phase{P99: 501 * time.Millisecond}, 500*time.Millisecond)
			},
			[]string{"p99 501ms of those beside them, from the broker's acknowledgement, instead of at most 500ms"},
		},
		"growth at its bound": {
			func(r *report.Result) {
				judgeGrowth(r, child.Gauges{Resident: 30 << 20}, child.Gauges{Resident: 94 << 20, Goroutines: 9000})
			}, nil,
		},
		"growth above it": {
			func(r *report.Result) {
				judgeGrowth(r, child.Gauges{Resident: 30 << 20}, child.Gauges{Resident: 95 << 20})
			},
			[]string{"grown by 65 MiB instead of at most 64"},
		},
		"a few timeouts and probes": {func(r *report.Result) { judgeCosts(r, 76, 12) }, nil},
		"a timeout for each event": {
			func(r *report.Result) { judgeCosts(r, 77, 13) },
			[]string{"77 attempts at the dead endpoint at first instead of at most 76", "13 attempts at the dead endpoint once it was known instead of at most 12"},
		},
		"each event waits for the dead endpoint": {
			func(r *report.Result) {
				r.Before, r.During, r.After = median(4), median(9), median(4)
				judgeCosts(r, 1, 1)
			},
			[]string{"p50 9ms beside a dead endpoint that is known, more than twice the undisturbed one"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var r report.Result
			c.judge(&r)
			if diff := cmp.Diff(c.want, r.Broken); diff != "" {
				t.Errorf("broken bounds (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHappenedCountsThoseThatWereCalled(t *testing.T) {
	var f lab.Field
	for range 4 {
		to, err := receiver.New(t.Context(), books.New("r"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(to.Down)
		f.Receivers = append(f.Receivers, to)
	}
	always := books.Span{To: time.Now().Add(time.Hour)}
	if n := happened(&f, always, false); n != 0 {
		t.Errorf("%d outages, while nobody called", n)
	}
	if n := happened(&f, always, true); n != 2 {
		t.Errorf("%d outages, expected those of the two that refuse", n)
	}
}
