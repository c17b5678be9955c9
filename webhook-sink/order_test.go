package webhooksink

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/config"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// TestOrderOfEachKeyAndParallelKeys: events of one user leave in order, one at a
// time, and as many users at once as the destination may have in flight.
func TestOrderOfEachKeyAndParallelKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const users, each, partitions = 200, 10, 2
		p := newPlant(t, testkit.Virtual(t), partitions, destination("crm"))
		var records []*kgo.Record
		var want []string
		for n := range each {
			for user := range users {
				id := fmt.Sprintf("u%03d-%04d", user, n)
				want = append(want, id)
				records = append(records, event("crm", id[:4], id, int32(user%partitions)))
			}
		}
		p.write(records...)
		l := newLedger(10 * time.Millisecond)
		r := p.start(l.attempt)
		testkit.Until(t, func() bool { return len(l.all()) == len(want) }, "all events to be delivered")
		r.end()

		l.once(t, want)
		last := make(map[string]string)
		for _, id := range l.all() {
			user := id[:strings.IndexByte(id, '-')]
			if id <= last[user] {
				t.Fatalf("%s was delivered after %s", id, last[user])
			}
			last[user] = id
		}
		if limit := config.Default().MaxInFlight; l.peak["crm"] != limit {
			t.Errorf("%d attempts in flight at most, expected %d", l.peak["crm"], limit)
		}
		if got := r.metric("deliveries_total", "crm", "delivered"); got != float64(len(want)) {
			t.Errorf("deliveries_total is %v, expected %d", got, len(want))
		}
		if r.metric("queue_bytes") != 0 || r.metric("in_flight") != 0 {
			t.Errorf("%v bytes queued and %v in flight at rest", r.metric("queue_bytes"), r.metric("in_flight"))
		}
	})
}

// TestADestinationThatHangsHoldsBackNoOther: forty destinations that answer
// nothing have long queues, and a forty-first is served as ever.
func TestADestinationThatHangsHoldsBackNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const hung = 40
		destinations := []workspace.Destination{destination("well")}
		for i := range hung {
			destinations = append(destinations, destination(fmt.Sprintf("hung-%d", i)))
		}
		p := newPlant(t, testkit.Virtual(t), 1, destinations...)
		for _, d := range destinations[1:] {
			var records []*kgo.Record
			for n := range 300 {
				records = append(records, event(d.ID, fmt.Sprint("user", n), fmt.Sprint(d.ID, n), 0))
			}
			p.write(records...)
		}
		slow := newLedger(5 * time.Second)
		slow.answer = func(string, string, int) outcome.Outcome { return failed(schemas.ReasonTimeout) }
		quick := newLedger(10 * time.Millisecond)
		receivers := func(ctx context.Context, dest *workspace.Destination, messageID string) outcome.Outcome {
			if dest.ID == "well" {
				return quick.attempt(ctx, dest, messageID)
			}
			return slow.attempt(ctx, dest, messageID)
		}
		r := p.start(receivers, func(c *Config, _ *Settings) { c.MaxInFlightTotal = 256 }).ready()
		testkit.Until(t, func() bool { return slow.inFlight("hung-0") > 0 && slow.inFlight("hung-39") > 0 }, "attempts to hang")
		virtual.Sleep(20 * time.Second)
		sent := make(map[string]time.Time)
		for n := range 100 {
			id := fmt.Sprintf("fresh-%03d", n)
			sent[id] = time.Now()
			p.produce("well", id, id)
			virtual.Sleep(20 * time.Millisecond)
		}
		testkit.Until(t, func() bool { return len(quick.all()) == len(sent) }, "fresh events to be delivered")
		for id, at := range sent {
			if took := quick.times[id].Sub(at); took > time.Second {
				t.Errorf("%s took %s", id, took)
			}
		}
		r.end()
	})
}
