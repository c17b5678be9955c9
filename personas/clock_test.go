package personas

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/personas/internal/message"
)

// TestATickThatArrivesLate: it was sent at once, and a silent network brought it to the broker
// much later. Calls that were stored meanwhile are not behind it.
func TestATickThatArrivesLate(t *testing.T) {
	t.Parallel()
	looked := time.UnixMilli(1_000_000)
	const late = 3_000
	for name, tt := range map[string]struct {
		tick message.Message
		want int64
	}{
		"who knows the brokers' time":          {message.Message{At: 999_990, Late: 2}, 999_990},
		"whose clock of the brokers is ahead":  {message.Message{At: 1_500_000, Late: 2}, 1_000_000 + late - 2},
		"who stood still behind the look, too": {message.Message{At: 1_500_000, Late: late + 40}, 1_000_000 - 40},
		"who does not know it":                 {message.Message{Late: 2}, 1_000_000 + late - 2},
	} {
		if got := timeOf(&tt.tick, looked.UnixMilli()+late, looked.Add(time.Minute)); got != tt.want {
			t.Errorf("%s: it was %d, want %d", name, got, tt.want)
		}
	}
}

// TestTheTimeOfTheBrokers, whose clocks are an hour ahead: what a partition's clock says it was
// never is later than it was there.
func TestTheTimeOfTheBrokers(t *testing.T) {
	t.Parallel()
	c := newClock(Settings{}, nil)
	now := time.Now()
	theirs := func(at time.Time) int64 { return at.Add(time.Hour).UnixMilli() }
	if got := c.least(1, now); got != 0 {
		t.Errorf("it was %d before anything was heard", got)
	}
	c.heard(1, theirs(now), now.Add(20*time.Millisecond)) // read 20 ms after it was written
	for _, later := range []time.Duration{-time.Second, 0, time.Second, time.Hour} {
		at := now.Add(later)
		if got, want := c.least(1, at), theirs(at)-20; got != want {
			t.Errorf("%s later it was %d, want %d", later, got, want)
		}
	}
	c.heard(1, theirs(now.Add(time.Minute)), now.Add(time.Minute))
	if got, want := c.least(1, now.Add(time.Minute)), theirs(now.Add(time.Minute)); got != want {
		t.Errorf("it was %d, want %d", got, want)
	}
	c.heard(2, theirs(now)-500, now)
	if got, want := c.least(0, now), theirs(now)-500; got != want {
		t.Errorf("it was %d, want %d: the least of others", got, want)
	}
}

// TestWhenACallWasTakenIn is what its record says, unless no clock of a broker can say that.
func TestWhenACallWasTakenIn(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_000_000_000)
	for in, want := range map[time.Duration]time.Duration{
		-time.Hour: -time.Hour, 0: 0, 30 * time.Millisecond: 30 * time.Millisecond, ahead: ahead, ahead + 1: 0, time.Hour: 0,
	} {
		if got := receipt(&kgo.Record{Timestamp: now.Add(in)}, now); !got.Equal(now.Add(want)) {
			t.Errorf("a record of %s was taken in %s from now, want %s", in, got.Sub(now), want)
		}
	}
}
