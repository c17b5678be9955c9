package webhooksink

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// fence has the group answer requests of a kind as if somebody else had the sink's
// instance id, count times or, for -1, always.
func (p *plant) fence(key kmsg.Key, count int) {
	p.cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Group: Group, Err: kerr.FencedInstanceID, Count: count})
}

// TestAFencedSinkJoinsAgain: a pause of the broker makes a sink's own request look
// like a rival's, before it has joined or afterwards.
func TestAFencedSinkJoinsAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key   kmsg.Key
		times int
	}{"once it has joined": {kmsg.Heartbeat, 2}, "while it joins": {kmsg.JoinGroup, 5}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
				p.fence(c.key, c.times)
				l := newLedger(time.Millisecond)
				r := p.start(l.attempt, static("one"))
				virtual.Sleep(time.Minute)
				p.produce("crm", "k", "m1")
				testkit.Until(t, func() bool { return len(l.all()) == 1 }, "the event to be delivered")
				r.end()
			})
		})
	}
}

// TestASinkWithARival ends, with the setting that is to be changed.
func TestASinkWithARival(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		p.fence(kmsg.Heartbeat, -1)
		l := newLedger(time.Millisecond)
		r := p.start(l.attempt, static("one"))
		select {
		case err := <-r.result:
			if !errors.Is(err, kerr.FencedInstanceID) || !strings.Contains(err.Error(), `INSTANCE_ID "one"`) {
				t.Errorf("Run: %v, expected it to name the setting", err)
			}
		case <-time.After(time.Minute):
			t.Error("the sink goes on for a minute")
		}
	})
}
