package regulate

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// abandoned stores a regulation as a process does that dies then.
func (p *process) abandoned(t *testing.T, users ...string) string {
	t.Helper()
	r := regulation.New(regulation.DeleteOnly, len(users), time.Now())
	if err := p.set.Ledger.Create(t.Context(), r, users); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, func() bool { _, ok := p.set.Register.Get(r.ID); return ok }, "the regulation")
	return r.ID
}

// TestAbandonedRegulationsAreTakenUp by a process that was not asked for them,
// once nobody has got on with them for a while, and not before.
func TestAbandonedRegulationsAreTakenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testkit.Virtual(t)
		topics(t, c)
		p := newProcess(t, c)
		id := p.abandoned(t, "u1")
		began := time.Now()
		p.run(t)
		p.awaitEnd(t, id)
		if took := time.Since(began); took < takeOverAfter || took > takeOverAfter+time.Second {
			t.Errorf("it was finished after %s, want %s", took, takeOverAfter)
		}
		notified(t, c, 2)
	})
}

// TestOneThatGetsNowhereHoldsNoOtherUp: while every write to raw-events fails
// attempts are made at growing pauses; a regulation that writes none is carried
// out, and when the writes succeed again so are all.
func TestOneThatGetsNowhereHoldsNoOtherUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testkit.Virtual(t)
		topics(t, c)
		p := start(t, c)
		var refusing atomic.Bool
		refusing.Store(true)
		c.Fake.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
			c.Fake.KeepControl()
			produce, _ := request.(*kmsg.ProduceRequest)
			if !refusing.Load() || !concerns(produce, schemas.TopicRawEvents) {
				return nil, nil, false
			}
			return nil, nil, true // no answer
		})
		id := p.regulate(t, regulation.DeleteOnly, "u1")
		suppressed := p.regulate(t, regulation.SuppressOnly, "u2")
		if got := p.awaitEnd(t, suppressed); got.Status != regulation.Finished {
			t.Errorf("status %+v", got)
		}
		virtual.Sleep(5 * time.Minute)
		attempts := testutil.ToFloat64(p.metrics.attempts)
		if attempts < 4 || attempts > 15 {
			t.Errorf("%v attempts in five minutes", attempts)
		}
		if got := p.status(t, id); got.Status.Final() {
			t.Errorf("status %+v", got)
		}
		refusing.Store(false)
		began := time.Now()
		if got := p.awaitEndIn(t, id, 2*longestPause); got.Status != regulation.Finished {
			t.Errorf("%s after the recovery: status %+v", time.Since(began), got)
		}
		notified(t, c, 2)
	})
}

// concerns tells whether a request writes notifications to a topic. Later versions
// of it give the topic's id instead of its name.
func concerns(request *kmsg.ProduceRequest, topic string) bool {
	for _, t := range request.Topics {
		if t.Topic == topic {
			return true
		}
		for _, p := range t.Partitions {
			if t.Topic == "" && strings.Contains(string(p.Records), `"type":"delete"`) {
				return true
			}
		}
	}
	return false
}

// awaitEndIn is awaitEnd for what takes long: in virtual time that costs nothing.
func (p *process) awaitEndIn(t *testing.T, id string, limit time.Duration) statusBody {
	t.Helper()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); virtual.Sleep(100 * time.Millisecond) {
		if got := p.status(t, id); got.Status.Final() {
			return got
		}
	}
	t.Fatalf("not at its end after %s", limit)
	return statusBody{}
}

// TestBrokersThatHang leave a request without an answer of theirs: it has one within
// two seconds, since the way to the brokers is watched, or else at its own bound.
func TestBrokersThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testkit.Virtual(t)
		topics(t, c)
		p := start(t, c)
		var hanging atomic.Bool
		hanging.Store(true)
		c.Fake.ControlKey(-1, func(kmsg.Request) (kmsg.Response, error, bool) {
			c.Fake.KeepControl()
			return nil, nil, hanging.Load()
		})
		began := time.Now()
		w := p.ask(t, http.MethodPost, "/regulations", text(regulation.SuppressOnly, "u1"))
		if took := time.Since(began); w.Code != http.StatusServiceUnavailable || took > createTimeout+abortAtMost {
			t.Errorf("answered %d after %s", w.Code, took)
		}
		began = time.Now()
		time.AfterFunc(time.Second, func() { p.outage(errOutage) })
		w = p.ask(t, http.MethodPost, "/regulations", text(regulation.SuppressOnly, "u1"))
		if took := time.Since(began); w.Code != http.StatusServiceUnavailable || took > time.Second+lookEvery {
			t.Errorf("when it is known: answered %d after %s", w.Code, took)
		}
		hanging.Store(false)
		p.outage(nil)
		virtual.Sleep(time.Minute) // the follower's client has to find its way back
		p.regulate(t, regulation.SuppressOnly, "u1")
		if !p.set.Register.Suppressed.Has([]byte("u1")) {
			t.Error("not suppressed after the recovery")
		}
	})
}

// abortAtMost is what a transaction may take to end without effect.
const abortAtMost = 2 * time.Second
