package regulate

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestWhatEachTypeDoes: who is suppressed when the answer comes, and who is told.
func TestWhatEachTypeDoes(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	p := start(t, c)
	events := 0
	for _, step := range []struct {
		kind       regulation.Type
		suppressed bool
		events     int
	}{
		{regulation.DeleteOnly, false, 2},
		{regulation.SuppressOnly, true, 0},
		{regulation.Unsuppress, false, 0},
		{regulation.SuppressWithDelete, true, 2},
		{regulation.DeleteOnly, true, 2}, // a deletion takes nothing back
	} {
		id := p.regulate(t, step.kind, "u1")
		if got := p.set.Register.Suppressed.Has([]byte("u1")); got != step.suppressed {
			t.Errorf("%s: suppressed %v when the answer comes", step.kind, got)
		}
		got := p.awaitEnd(t, id)
		if got.OverallStatus != regulation.Finished || got.Subjects != 1 || got.FinishedAt == "" {
			t.Errorf("%s: status %+v", step.kind, got)
		}
		events += step.events
		notified(t, c, events)
	}
	if strings.Contains(p.log.String(), "u1") {
		t.Errorf("the log names a user:\n%s", p.log)
	}
	testkit.Counted(t, p.metrics.notifications, 6)
}

// TestAProcessThatEndsInTheMiddle leaves the rest to the next one.
func TestAProcessThatEndsInTheMiddle(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	first := newProcess(t, c)
	stop := first.run(t)
	id := first.regulate(t, regulation.DeleteOnly, users(regulation.MaxSubjects)...)
	testkit.Until(t, func() bool { return first.status(t, id).Status != regulation.Initialized }, "the first step")
	stop()
	if got := first.set.Register.Unfinished(); len(got) == 0 {
		t.Skip("the machine was so fast that nothing was left to do")
	}
	second := start(t, c)
	if got := second.awaitEnd(t, id); got.Status != regulation.Finished || got.Notified != regulation.MaxSubjects {
		t.Errorf("status %+v", got)
	}
	notified(t, c, 2*regulation.MaxSubjects)
}

// TestTwoProcesses are asked for regulations at the same time: each carries its
// own out, and both suppress for both.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	one, other := start(t, c), start(t, c)
	a := one.regulate(t, regulation.SuppressWithDelete, users(1500)...)
	b := other.regulate(t, regulation.DeleteOnly, users(1500)...)
	for _, p := range []*process{one, other} {
		for _, id := range []string{a, b} {
			testkit.Until(t, func() bool { _, ok := p.set.Register.Get(id); return ok }, "both to know of both")
			if got := p.awaitEnd(t, id); got.Status != regulation.Finished {
				t.Errorf("status %+v", got)
			}
		}
		if !p.set.Register.Suppressed.Has([]byte("user-1499")) {
			t.Error("a process does not suppress")
		}
	}
	notified(t, c, 2*2*1500)
}

// TestAPredecessorThatLives is fenced in the middle of its work by a second run
// of the same regulation: together they write every notification once.
func TestAPredecessorThatLives(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	one, other := newProcess(t, c), newProcess(t, c)
	r := regulation.New(regulation.DeleteOnly, 3000, time.Now())
	if err := one.set.Ledger.Create(t.Context(), r, users(3000)); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*process{one, other} {
		testkit.Until(t, func() bool { _, ok := p.set.Register.Get(r.ID); return ok }, "both to know of it")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = one.carryOut(context.Background(), r.ID) // fenced, or done before
	}()
	testkit.Until(t, func() bool {
		got, _ := other.set.Register.Get(r.ID)
		return got.Notified > 0
	}, "the first step")
	if err := other.carryOut(t.Context(), r.ID); err != nil {
		t.Error(err)
	}
	<-done
	notified(t, c, 2*3000)
}

// TestTransactionsThatAreRolledBack: refused commits and refused writes are tried
// again, and leave nothing behind.
func TestTransactionsThatAreRolledBack(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	topics(t, c)
	p := start(t, c)
	faults := c.Fake.Fault(kfake.Fault{Topic: schemas.TopicRawEvents, Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.InvalidRecord, Count: 2})
	id := p.regulate(t, regulation.DeleteOnly, users(100)...)
	if got := p.awaitEnd(t, id); got.Status != regulation.Finished {
		t.Errorf("status %+v", got)
	}
	if faults.Hits() == 0 {
		t.Error("no fault was injected")
	}
	if got := testutil.ToFloat64(p.metrics.attempts); got == 0 {
		t.Error("no failed attempt is counted")
	}
	notified(t, c, 200)
}

// TestWhatCanNeverWorkFails and says why, whichever way brokers refuse it.
func TestWhatCanNeverWorkFails(t *testing.T) {
	t.Parallel()
	for _, refusal := range []*kerr.Error{kerr.MessageTooLarge, kerr.RecordListTooLarge} {
		t.Run(refusal.Message, func(t *testing.T) {
			t.Parallel()
			c := testkit.Fake(t)
			topics(t, c)
			p := start(t, c)
			c.Fake.Fault(kfake.Fault{Topic: schemas.TopicRawEvents, Keys: []kmsg.Key{kmsg.Produce}, Err: refusal, Count: -1})
			id := p.regulate(t, regulation.DeleteOnly, users(3)...)
			if got := p.awaitEnd(t, id); got.Status != regulation.Failed || !strings.Contains(got.Reason, "raw-events refused a notification as too large") {
				t.Errorf("status %+v", got)
			}
			testkit.Counted(t, p.metrics.failed, 1)
		})
	}
}

// TestARefusedBatch: notifications that are refused together go out in smaller
// batches, down to single ones.
func TestARefusedBatch(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	// A notification is some 500 bytes as a batch of its own, and two are too many.
	c.Limit(t, schemas.TopicRawEvents, 600)
	p := start(t, c)
	id := p.regulate(t, regulation.DeleteOnly, users(20)...)
	if got := p.awaitEnd(t, id); got.Status != regulation.Finished || got.Notified != 20 {
		t.Errorf("status %+v", got)
	}
	if !strings.Contains(p.log.String(), "writing fewer at a time") {
		t.Errorf("nothing was refused; the log says\n%s", p.log)
	}
	notified(t, c, 40)
}

// TestUserIDsThatAreGone: somebody else's hand in the topic.
func TestUserIDsThatAreGone(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	p := newProcess(t, c)
	r := regulation.New(regulation.DeleteOnly, 2, time.Now())
	if err := p.set.Ledger.Create(t.Context(), r, []string{"u1"}); err != nil { // one of two
		t.Fatal(err)
	}
	testkit.Until(t, func() bool { _, ok := p.set.Register.Get(r.ID); return ok }, "the regulation")
	if err := p.carryOut(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	p.run(t)
	if got := p.awaitEnd(t, r.ID); got.Status != regulation.Failed || !strings.Contains(got.Reason, "are missing") {
		t.Errorf("status %+v", got)
	}
	notified(t, c, 0)
}

// TestOutage: a request is refused within two seconds of the brokers' going, and
// at once while they are known to be away.
func TestOutage(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	topics(t, c)
	p := start(t, c)
	p.outage(errOutage)
	if w := p.ask(t, http.MethodPost, "/regulations", text(regulation.SuppressOnly, "u1")); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
		t.Errorf("while they are away: %d %s", w.Code, w.Body)
	}
	p.outage(nil)
	c.Fake.ControlKey(int16(kmsg.InitProducerID), func(kmsg.Request) (kmsg.Response, error, bool) {
		p.outage(errOutage)
		c.Fake.KeepControl()
		return nil, nil, true // swallowed
	})
	began := time.Now()
	w := p.ask(t, http.MethodPost, "/regulations", text(regulation.SuppressOnly, "u1"))
	if took := time.Since(began); w.Code != http.StatusServiceUnavailable || took > 2*time.Second {
		t.Errorf("when they go: %d after %s", w.Code, took)
	}
	if w := p.ask(t, http.MethodGet, "/regulations/nobody", ""); w.Code != http.StatusNotFound {
		t.Errorf("a status is answered %d", w.Code)
	}
}
