package webhooksink

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// pause has nothing sent to destinations, and to all others.
func (p *plant) pause(ids ...string) {
	doc := workspace.Document{Pauses: make(map[string]workspace.Pause)}
	for _, d := range p.live.Load().Destinations() {
		doc.Destinations = append(doc.Destinations, *d)
	}
	for _, id := range ids {
		doc.Pauses[id] = workspace.Pause{By: "ada", Since: time.Now()}
	}
	p.live.Store(doc.Snapshot())
}

// TestAPausedDestination gets nothing, live events or retries, from this sink or the next, and
// all of it once it is resumed. Nobody else waits.
func TestAPausedDestination(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 300
		p := newPlant(t, testkit.Virtual(t), 2, destination("crm"), destination("lake"))
		l := newLedger(5 * time.Millisecond)
		l.answer = func(_, messageID string, attempt int) outcome.Outcome {
			if messageID == "fails" && attempt == 1 {
				return failed(schemas.ReasonStatus5xx)
			}
			return outcome.Outcome{Verdict: outcome.Delivered}
		}
		quickly := func(c *Config, _ *Settings) {
			c.RetryDelays, c.RetryWindow = []time.Duration{5 * time.Second, 30 * time.Second}, 5*time.Minute
		}
		r := p.start(l.attempt, static("one"), quickly).ready()
		p.produce("crm", "user", "fails")
		testkit.Until(t, func() bool { return l.tries("fails") == 1 }, "the first attempt")
		virtual.Sleep(time.Second)
		p.pause("crm")
		virtual.Sleep(time.Second)
		p.write(spread(n, 2)...)
		p.produce("lake", "user", ids("lake", 20)...)
		testkit.Until(t, func() bool { return len(l.all()) == 20 }, "the other destination to get its events")
		virtual.Sleep(time.Minute)
		if got := r.metric("paused", "crm"); got != 1 {
			t.Errorf("paused is %v", got)
		}
		if got := r.metric("lag_records", "crm"); got != n {
			t.Errorf("%v events wait, expected %d", got, n)
		}
		if err := r.sink.Ready(); err != nil {
			t.Errorf("a pause makes the sink unready: %v", err)
		}
		r.end()
		r = p.start(l.attempt, static("one"), quickly).ready()
		virtual.Sleep(6 * time.Minute) // beyond the window of the retry
		if all := l.all(); len(all) != 20 || l.tries("fails") != 1 {
			t.Fatalf("%d events were delivered by the end of the pause: %v", len(all), all)
		}
		p.pause()
		testkit.Until(t, func() bool { return len(l.all()) >= n+20 }, "what had waited for its first attempt")
		virtual.Sleep(time.Minute)
		r.end()
		if all := l.all(); len(all) != n+21 || distinct(all) != n+21 || l.tries("fails") != 2 {
			t.Errorf("%d deliveries of %d events, expected one of each of %d", len(all), distinct(all), n+21)
		}
		for partition := range int32(2) {
			if got := p.committed(partition); got < n/2 || got > n/2+1 {
				t.Errorf("committed of partition %d is %d", partition, got)
			}
		}
		p.deadLetters(0)
	})
}
