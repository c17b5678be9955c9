package fleetfaults

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/report"
)

func producers(streams []*load.Stream) []string {
	var names []string
	for _, s := range streams {
		names = append(names, s.Producer())
	}
	return names
}

func TestWithout(t *testing.T) {
	t.Parallel()
	all := load.PartitionStreams("run", "raw", "raw-events", 4, 2)
	if diff := cmp.Diff([]string{"raw-p0", "raw-p2"}, producers(without(all, []int32{3, 1}))); diff != "" {
		t.Errorf("the others (-want +got):\n%s", diff)
	}
	if rest := without(all, nil); len(rest) != 4 {
		t.Errorf("without none: %v", producers(rest))
	}
}

// TestChoose: every kind of restart comes up, each with every instance in turn.
func TestChoose(t *testing.T) {
	t.Parallel()
	var got []string
	for i := range 8 {
		stage, kill, n := choose(i, 3)
		got = append(got, outage{stage: stage, kill: kill}.kind()+" "+string(rune('0'+n)))
	}
	want := []string{
		"router by SIGTERM 0", "webhook-sink by SIGTERM 0", "router by kill -9 0", "webhook-sink by kill -9 0",
		"router by SIGTERM 1", "webhook-sink by SIGTERM 1", "router by kill -9 1", "webhook-sink by kill -9 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestKindsAreNamedOnce(t *testing.T) {
	t.Parallel()
	all := []outage{{stage: sink}, {stage: router, kill: true}, {stage: sink}, {stage: sink, kill: true}}
	if diff := cmp.Diff([]string{"webhook-sink by SIGTERM", "router by kill -9", "webhook-sink by kill -9"}, kinds(all)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSwaps: every process is replaced, and once all are of the new version, every
// one is replaced back.
func TestSwaps(t *testing.T) {
	t.Parallel()
	for downstream, want := range map[bool]string{
		true:  "ingest-0 to new, router-0 to new, router-1 to new, webhook-sink-0 to new, ingest-0 to old, router-0 to old, router-1 to old, webhook-sink-0 to old",
		false: "webhook-sink-0 to new, router-0 to new, router-1 to new, ingest-0 to new, webhook-sink-0 to old, router-0 to old, router-1 to old, ingest-0 to old",
	} {
		var got []string
		for _, s := range swaps(map[string]int{ingest: 1, router: 2, sink: 1}, downstream) {
			got = append(got, s.String())
		}
		if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("downstream %v (-want +got):\n%s", downstream, diff)
		}
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	c := cost{events: 1000, took: 2 * time.Second, router: 10 * time.Millisecond, sink: 30 * time.Millisecond, broker: 250 * time.Millisecond}
	if got := c.String(); got != "10 + 30, 250" {
		t.Errorf("cost %s", got)
	}
	if c.own() != 40 || c.rate() != 500 {
		t.Errorf("%v µs of the product's own at %v/s", c.own(), c.rate())
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	of := func(each, backlog time.Duration) sample {
		return sample{each: flow{cost{events: 1, sink: each}, books.Phase{}}, backlog: cost{events: 1, router: backlog}}
	}
	cases := map[string]struct {
		last   sample
		broken int
	}{
		"as much":               {of(100, 50), 0},
		"a little more":         {of(130, 80), 0},
		"more under a load":     {of(131, 50), 1},
		"more of a backlog":     {of(100, 81), 1},
		"more of both":          {of(200, 100), 2},
		"less, which is no bad": {of(50, 20), 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, last := of(100, 50), c.last
			for _, s := range []*sample{&first, &last} {
				s.each.sink *= 1000
				s.backlog.router *= 1000
			}
			r := new(report.Result)
			judge(r, []sample{first, {}, last})
			if len(r.Broken) != c.broken || len(r.Notes) != 2 {
				t.Errorf("broken %v, notes %v, want %d bounds broken", r.Broken, r.Notes, c.broken)
			}
		})
	}
}
