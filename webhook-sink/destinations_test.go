package webhooksink

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// TestANewDestinationIsServedWhileTheSinkRuns.
func TestANewDestinationIsServedWhileTheSinkRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 2, destination("old"))
		l := newLedger(time.Millisecond)
		r := p.start(l.attempt).ready()
		p.ensure(schemas.DeliverTopic("new")) // as whoever publishes the workspace does
		p.live.Store(snapshot(destination("old"), destination("new")))
		began := time.Now()
		p.produce("new", "user", "m1")
		testkit.Until(t, func() bool { return len(l.all()) == 1 }, "the event to be delivered")
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the first event of a new destination took %s", took)
		}
		p.produce("old", "user", "m2")
		testkit.Until(t, func() bool { return len(l.all()) == 2 }, "the event to be delivered")
		if got := r.metric("deliveries_total", "new", "delivered"); got != 1 {
			t.Errorf("deliveries_total{new} is %v, expected 1", got)
		}
		r.end()
	})
}

// TestTheFirstAttemptGoesByTheWorkspaceOfItsMoment: what was routed to a
// destination that is now switched off is not delivered.
func TestASwitchedOffDestinationGetsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		l := newLedger(time.Millisecond)
		l.answer = func(string, string, int) outcome.Outcome { return failed(schemas.ReasonStatus5xx) }
		r := p.start(l.attempt).ready()
		p.produce("crm", "user", "m1")
		testkit.Until(t, func() bool { return r.metric("deliveries_total", "crm", "retried") == 1 }, "m1 to fail")
		off := destination("crm")
		off.Enabled = false
		p.live.Store(snapshot(off))
		p.produce("crm", "user", "m2")
		for _, h := range p.deadLetters(2) {
			if h.Reason != schemas.ReasonDestinationDisabled || h.Destination != "crm" {
				t.Errorf("dead letter %+v, expected destination_disabled", h)
			}
		}
		r.end()
		if l.attempts["m1"] != 1 || l.attempts["m2"] != 0 {
			t.Errorf("attempts %v, expected the one before it was switched off", l.attempts)
		}
	})
}

// TestARemovedDestination: what waits for its first attempt and what waits for a
// retry becomes dead letters, now and after a restart.
func TestARemovedDestination(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"), destination("other"))
		l := newLedger(time.Millisecond)
		l.answer = func(string, string, int) outcome.Outcome { return failed(schemas.ReasonStatus5xx) }
		r := p.start(l.attempt).ready()
		p.produce("crm", "user", "retried")
		testkit.Until(t, func() bool { return r.metric("deliveries_total", "crm", "retried") == 1 }, "the event to fail")
		p.live.Store(snapshot(destination("other")))
		p.produce("crm", "user", "fresh")
		p.deadLetters(1)
		virtual.Sleep(time.Minute) // a destination that is not known may also be new
		p.deadLetters(2)
		r.end()
		if got := r.metric("deliveries_total", "crm", "dead"); got != 2 {
			t.Errorf("deliveries_total{crm,dead} is %v, expected 2: it was known when the sink started", got)
		}

		p.produce("crm", "user", "left over")
		r = p.start(l.attempt).ready()
		for _, h := range p.deadLetters(3) {
			if h.Reason != schemas.ReasonDestinationRemoved || h.Destination != "crm" {
				t.Errorf("dead letter %+v, expected destination_removed", h)
			}
		}
		testkit.Until(t, func() bool { return r.metric("deliveries_total", "(removed)", "dead") == 1 }, "the dead letter to be counted")
		r.end()
	})
}

// TestDestinationsWithoutWebhooks are none of the sink's: nothing of theirs is read, and no
// series is theirs. What waits for the webhooks of one that had some goes to dead-letters.
func TestDestinationsWithoutWebhooks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		export := workspace.Destination{ID: "warehouse", Type: workspace.TypeTopic, Enabled: true, Sources: []string{"web"}}
		archive := workspace.Destination{ID: "cold", Type: workspace.TypeArchive, Enabled: true, Sources: []string{"web"}, Archive: &workspace.Archive{Directory: "a"}}
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"), export, archive)
		l := newLedger(time.Millisecond)
		p.ensure(schemas.ExportTopic("warehouse"), schemas.ArchiveTopic("cold"))
		p.write(&kgo.Record{Topic: schemas.ExportTopic("warehouse")}, &kgo.Record{Topic: schemas.ArchiveTopic("cold")}) // for dead-letters, if they were read
		r := p.start(l.attempt).ready()
		p.produce("crm", "user", "m1")
		testkit.Until(t, func() bool { return r.metric("deliveries_total", "crm", "delivered") == 1 }, "the event to be delivered")
		virtual.Sleep(2 * leftoverGrace)
		families, err := r.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if text := f.String(); strings.Contains(text, "warehouse") || strings.Contains(text, "cold") {
				t.Error(text)
			}
		}
		changed := export
		changed.ID = "crm"
		p.live.Store(snapshot(changed, archive))
		p.produce("crm", "user", "m2")
		for _, h := range p.deadLetters(1) {
			if h.Reason != schemas.ReasonDestinationRemoved || h.Destination != "crm" || !strings.Contains(h.Detail, "its type is topic") {
				t.Errorf("dead letter %+v", h)
			}
		}
		r.end()
	})
}

// TestATopicThatIsNamedALittleLater: the topic of a new destination exists before
// the workspace names it, and a sink that starts in between does not take its
// events for those of a removed one.
func TestATopicThatIsNamedALittleLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1)
		p.ensure(schemas.DeliverTopic("new"))
		p.produce("new", "user", "m1")
		l := newLedger(time.Millisecond)
		r := p.start(l.attempt).ready()
		virtual.Sleep(leftoverGrace / 2)
		p.live.Store(snapshot(destination("new")))
		testkit.Until(t, func() bool { return len(l.all()) == 1 }, "the event to be delivered")
		r.end()
		p.deadLetters(0)
	})
}

// TestARetryOfADestinationThatIsNotKnownYet: another sink, which had read of the new
// destination, made the first attempt and wrote to a topic that all of them share.
func TestARetryOfADestinationThatIsNotKnownYet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1)
		l := newLedger(time.Millisecond)
		r := p.start(l.attempt).ready()
		retried := event("new", "user", "m1", 0)
		retried.Topic = "webhook-retry.5s"
		h := headersOf(t, retried)
		h.Destination, h.Attempt, h.FirstAttempt, h.Due = "new", 1, time.Now(), time.Now().Add(5*time.Second)
		kafka.SetHeaders(retried, &h)
		p.write(retried)
		virtual.Sleep(20 * time.Second)
		p.live.Store(snapshot(destination("new")))
		testkit.Until(t, func() bool { return len(l.all()) == 1 }, "the event to be delivered")
		r.end()
		p.deadLetters(0)
	})
}

// TestUnreadableRecordsAreDeadLetters, from a destination's topic and from a
// retry topic, and those around them are delivered.
func TestUnreadableRecordsAreDeadLetters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		p.ensure("webhook-retry.5s")
		garbage := []kgo.RecordHeader{{Key: "first-attempt", Value: []byte("yesterday")}}
		p.produce("crm", "user", "before")
		p.write(&kgo.Record{Topic: "deliver.crm", Key: []byte("user"), Value: []byte("{}"), Headers: garbage})
		p.produce("crm", "user", "behind")
		p.write(
			&kgo.Record{Topic: "webhook-retry.5s", Value: []byte("{}"), Headers: garbage},
			&kgo.Record{Topic: "webhook-retry.5s", Value: []byte("{}")},
		)
		l := newLedger(time.Millisecond)
		r := p.start(l.attempt)
		letters := p.deadLetters(3)
		testkit.Until(t, func() bool { return len(l.all()) == 2 }, "the good events to be delivered")
		r.end()
		from := make(map[string]int)
		for _, h := range letters {
			if h.Reason != schemas.ReasonRecordInvalid || h.Detail == "" {
				t.Errorf("dead letter %+v, expected record_invalid with a detail", h)
			}
			from[h.From.Topic+" "+h.Destination]++
		}
		if from["deliver.crm crm"] != 1 || from["webhook-retry.5s "] != 2 {
			t.Errorf("dead letters from %v, expected one of deliver.crm and two of the retry topic", from)
		}
	})
}

// TestAChangedListOfDelaysStrandsNothing: a retry waits on a topic that the next
// configuration does not name.
func TestAChangedListOfDelaysStrandsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		l := newLedger(time.Millisecond)
		l.answer = func(_, _ string, attempt int) outcome.Outcome {
			if attempt == 1 {
				return failed(schemas.ReasonStatus5xx)
			}
			return outcome.Outcome{Verdict: outcome.Delivered}
		}
		r := p.start(l.attempt, func(c *Config, _ *Settings) { c.RetryDelays = []time.Duration{7 * time.Minute} })
		p.produce("crm", "user", "m1")
		testkit.Until(t, func() bool { return r.metric("deliveries_total", "crm", "retried") == 1 }, "the event to fail")
		r.end()
		r = p.start(l.attempt).ready()
		virtual.Sleep(9 * time.Minute)
		r.end()
		l.once(t, []string{"m1"})
	})
}
