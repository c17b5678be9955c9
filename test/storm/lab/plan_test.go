package lab

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMomentsAreReplayed(t *testing.T) {
	plan := func(seed uint64, row string) []time.Duration {
		return newLab(&Bench{Seed: seed}, row, t.TempDir()).Moments(10, time.Minute)
	}
	if diff := cmp.Diff(plan(7, "kill-sink"), plan(7, "kill-sink")); diff != "" {
		t.Errorf("the same seed made another plan:\n%s", diff)
	}
	if cmp.Equal(plan(7, "kill-sink"), plan(8, "kill-sink")) || cmp.Equal(plan(7, "kill-sink"), plan(7, "kill-router")) {
		t.Error("another seed or another row made the same plan")
	}
}

func TestMomentsLeaveTimeToRecover(t *testing.T) {
	for seed := range uint64(100) {
		previous := time.Duration(0)
		for i, moment := range newLab(&Bench{Seed: seed}, "row", "").Moments(6, time.Minute) {
			if moment-previous < 3*time.Second {
				t.Fatalf("seed %d: fault %d comes %s after the one before", seed, i, moment-previous)
			}
			if part := time.Duration(i) * 10 * time.Second; moment < part || moment > part+10*time.Second {
				t.Fatalf("seed %d: fault %d at %s, outside of its sixth of the minute", seed, i, moment)
			}
			previous = moment
		}
	}
}

func TestAtWaitsOutThePlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var done []time.Duration
		err := At(t.Context(), []time.Duration{time.Second, 3 * time.Second}, 10*time.Second, func(int) error {
			done = append(done, time.Since(begun))
			return nil
		})
		if err != nil {
			t.Fatalf("At: %v", err)
		}
		if diff := cmp.Diff([]time.Duration{time.Second, 3 * time.Second}, done); diff != "" {
			t.Errorf("moments (-want +got):\n%s", diff)
		}
		if took := time.Since(begun); took != 10*time.Second {
			t.Errorf("the plan took %s, expected its ten seconds", took)
		}
	})
}

func TestMissing(t *testing.T) {
	ours, theirs, held := &Bench{}, &Bench{Brokers: "kafka:9092"}, &Bench{Brokers: "kafka:9092", BrokerPID: "pid"}
	started := &Bench{Brokers: "kafka:9092", BrokerPID: "pid", BrokerStart: "start"}
	cases := map[string]struct {
		bench *Bench
		row   Row
		want  string
	}{
		"our broker can do all":         {ours, Row{Embedded: true, Holds: true, Kills: true}, ""},
		"theirs any ordinary row":       {theirs, Row{}, ""},
		"but it is not embedded":        {theirs, Row{Embedded: true}, "the embedded broker"},
		"nor to be held up by its name": {theirs, Row{Holds: true}, "-broker-pid"},
		"nor to be killed for good":     {held, Row{Kills: true}, "-broker-pid and -broker-start"},
		"but when it can be started":    {started, Row{Kills: true}, ""},
		"which takes its process's id":  {held, Row{Holds: true}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.bench.Missing(c.row); got != c.want {
				t.Errorf("Missing: %q, expected %q", got, c.want)
			}
		})
	}
}
