package webhooksink

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/group"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// TestASinkThatHearsNothingOfItsGroup starts nothing more of what it has in memory once
// others may have its partitions, neither first attempts nor retries: not while it
// hears nothing, and not when it hears that it is a member no more.
func TestASinkThatHearsNothingOfItsGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		deaf, other := newLedger(time.Second), newLedger(time.Second)
		deaf.answer = func(_, messageID string, attempt int) outcome.Outcome {
			if messageID == "retried" && attempt == 1 {
				return failed(schemas.ReasonStatus5xx)
			}
			return outcome.Outcome{Verdict: outcome.Delivered}
		}
		const n = 60 // of one user: a minute's work
		slowly := func(c *Config, _ *Settings) { c.RetryDelays = []time.Duration{15 * time.Second} }
		first := p.start(deaf.attempt, slowly).ready()
		p.produce("crm", "another user", "retried")
		p.produce("crm", "user", ids("m", n)...)
		testkit.Until(t, func() bool { return first.metric("deliveries_total", "crm", "retried") == 1 && len(deaf.all()) > 0 }, "the work to begin")
		testkit.Until(t, func() bool { return p.committed(0) > 0 }, "the retry to be committed") // else another retries it too
		first.wire.freeze()
		second := p.start(other.attempt, slowly)
		virtual.Sleep(group.SessionTimeout + 2*time.Second) // an attempt that has begun ends
		at := len(deaf.all())
		virtual.Sleep(20 * time.Second)
		if got := deaf.all()[at:]; len(got) > 0 {
			t.Errorf("delivered %v, which are another sink's", got)
		}
		first.wire.thaw()
		virtual.Sleep(time.Minute)
		testkit.Until(t, func() bool { return distinct(slices.Concat(deaf.all(), other.all())) == n+1 }, "all events to be delivered")
		// A member again, the first may have been given the rest.
		if since := slices.Concat(deaf.all()[at:], other.all()); distinct(since) != len(since) {
			t.Errorf("delivered %v since others may have the partitions, some of them twice", since)
		}
		first.end()
		second.end()
	})
}
