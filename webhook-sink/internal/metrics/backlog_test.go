package metrics

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/lag"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/webhook-sink/internal/breaker"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

func TestBacklogsAreSummedUpByLabel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, now := newDesk(t), time.Now()
		d.Follow(workspace.NewSnapshot(nil, []workspace.Destination{{ID: "ads"}, {ID: "mail"}, {ID: "sms"}}))
		first := func(id string, records int64, ago time.Duration) partition.Progress {
			return partition.Progress{Place: partition.Place{Topic: "deliver." + id}, Destination: id, Total: lag.Total{Records: records, Oldest: now.Add(-ago)}}
		}
		d.Watch(Views{Progress: func() []partition.Progress {
			return []partition.Progress{
				first("crm", 2, time.Minute), first("crm", 3, time.Hour),
				{Place: partition.Place{Topic: "deliver.crm"}, Destination: "crm"}, // nothing on a third partition
				first("mail", 5, time.Second), first("sms", 6, 2*time.Second),
				first("gone", 7, time.Minute),
				first("ads", 1, -time.Minute), // by a clock that is ahead
				{Place: partition.Place{Topic: "webhook-retry.30s"}, Total: lag.Total{Records: 8, Oldest: now.Add(-20 * time.Second)}},
				{Place: partition.Place{Topic: "webhook-retry.30s"}, Total: lag.Total{Records: 1, Oldest: now.Add(-10 * time.Second)}},
				{Place: partition.Place{Topic: "webhook-retry.2m"}},
			}
		}})
		for _, want := range []struct {
			label       string
			lag, oldest float64
		}{
			{"crm", 5, 3600}, {"ads", 1, 0}, {telemetry.OtherDestinations, 11, 2}, {removed, 7, 60}, {"mail", 0, 0},
		} {
			if got := d.value("lag_records", want.label); got != want.lag {
				t.Errorf("lag of %s is %v, want %v", want.label, got, want.lag)
			}
			if got := d.value("oldest_undelivered_seconds", want.label); got != want.oldest {
				t.Errorf("the oldest of %s is %v s old, want %v", want.label, got, want.oldest)
			}
		}
		for delay, want := range map[string][2]float64{"30s": {9, 20}, "2m": {0, 0}} {
			if got := [2]float64{d.value("retries_waiting", delay), d.value("oldest_retry_seconds", delay)}; got != want {
				t.Errorf("retries on %s: %v, want %v", delay, got, want)
			}
		}
	})
}

// TestSeriesLeaveWithTheirPartitions: nothing remembers what is somebody else's now.
func TestSeriesLeaveWithTheirPartitions(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Watch(Views{Progress: func() []partition.Progress {
		return []partition.Progress{
			{Place: partition.Place{Topic: "deliver.crm"}, Destination: "crm", Total: lag.Total{Records: 9, Oldest: time.Now()}},
			{Place: partition.Place{Topic: "webhook-retry.5s"}, Total: lag.Total{Records: 9, Oldest: time.Now()}},
		}
	}})
	if d.value("lag_records", "crm") != 9 || d.value("retries_waiting", "5s") != 9 {
		t.Error("the backlog of two partitions is not shown")
	}
	d.Watch(Views{})
	if d.value("lag_records", "crm") != 0 || d.value("retries_waiting", "5s") != 0 {
		t.Error("partitions that have left have a backlog here")
	}
}

func TestBreakersAreCountedByState(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Watch(Views{Breakers: func() breaker.Counts {
		return breaker.Counts{breaker.Closed: 4, breaker.Open: 2, breaker.Probing: 1}
	}})
	for state, want := range map[string]float64{"closed": 4, "open": 2, "probing": 1} {
		if got := d.value("breakers", state); got != want {
			t.Errorf("%v breakers are %s, want %v", got, state, want)
		}
	}
}

// TestTotalsAddUpBeyondTheBound: which destinations have series of their own changes
// nothing about the sum.
func TestTotalsAddUpBeyondTheBound(t *testing.T) {
	t.Parallel()
	d := newDesk(t) // with two places
	destinations := []workspace.Destination{{ID: "crm"}}
	for i := range 50 {
		destinations = append(destinations, workspace.Destination{ID: fmt.Sprint("d", i)})
	}
	d.Follow(workspace.NewSnapshot(nil, destinations))
	for i := range destinations {
		for range i {
			d.Posted(destinations[i].ID, outcome.LabelDelivered)
			d.Down(destinations[i].ID, 1)
		}
	}
	sum := 50 * 51 / 2.
	others := d.value("attempts_total", telemetry.OtherDestinations, outcome.LabelDelivered)
	if own := d.value("attempts_total", "d0", outcome.LabelDelivered); own != 1 || own+others != sum {
		t.Errorf("%v attempts of d0 and %v of others, want 1 and %v together", own, others, sum)
	}
	if down := d.value("endpoints_down", telemetry.OtherDestinations); down != sum-1 {
		t.Errorf("%v endpoints of others are down, want %v", down, sum-1)
	}
}

func BenchmarkPosted(b *testing.B) {
	d := newDesk(b)
	b.ReportAllocs()
	for b.Loop() {
		d.Posted("crm", outcome.LabelDelivered)
	}
}
