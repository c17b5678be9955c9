package redrive

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/deadletters/internal/dltest"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

func TestRedrivenEventIsAFreshOne(t *testing.T) {
	t.Parallel()
	p := newPlant(t, testkit.Brokers(t), 0)
	h := dltest.Headers(1, "crm", schemas.ReasonWindowExceeded)
	h.Integrations, h.Attempt, h.Due, h.Endpoints = []byte(`{"All":true}`), 25, time.Now(), []uint64{7}
	p.Die(t, h)
	expect(t, p.run(p.settings()), "redriven 1 of 1 dead letters", "crm", "window_exceeded")
	got := p.delivered(1, 0)[0]
	event := dltest.Event(h)
	if string(got.Key) != string(event.Key) || string(got.Value) != string(event.Value) {
		t.Errorf("redriven %s=%s, want %s=%s", got.Key, got.Value, event.Key, event.Value)
	}
	headers, err := kafka.HeadersOf(got)
	if err != nil {
		t.Fatal(err)
	}
	want := schemas.Headers{Source: h.Source, Type: h.Type, MessageID: h.MessageID, Integrations: h.Integrations, Origin: schemas.OriginReplay}
	if diff := cmp.Diff(want, headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestRefusesToRedriveTwice(t *testing.T) {
	t.Parallel()
	p := newPlant(t, testkit.Brokers(t), 30)
	p.run(p.settings())
	p.delivered(30, 30)
	expect(t, p.run(p.settings()), "redriven 0 of 30", "left out: redriven before", "30 were redriven before; --again sends again")
	late := p.Die(t, dltest.Headers(30, "crm", schemas.ReasonStatus4xx))
	expect(t, p.run(p.settings()), "redriven 1 of 31", "30 were redriven before")

	byID := p.settings()
	byID.Selection = deadletters.Selection{IDs: []deadletters.ID{late}}
	if err := Run(t.Context(), byID); err == nil || !strings.Contains(err.Error(), "1 was redriven before; --again") {
		t.Errorf("asked for by its id: %v, want a refusal", err)
	}
	p.delivered(31, 31)

	again := p.settings()
	again.Again = time.Now().Add(time.Millisecond)
	expect(t, p.run(again), "redriven 31 of 31")
	p.delivered(62, 31)
	// The same run, going on: all of it is done.
	expect(t, p.run(again), "redriven 0 of 31")
}

func TestLeftOut(t *testing.T) {
	t.Parallel()
	p := newPlant(t, testkit.Brokers(t), 2)
	p.Die(t, dltest.Headers(2, "", schemas.ReasonRecordInvalid))
	p.Die(t, dltest.Headers(3, "removed", schemas.ReasonDestinationRemoved))
	p.Die(t, dltest.Headers(4, "off", schemas.ReasonDestinationDisabled))
	p.Bury(t, &kgo.Record{Topic: schemas.TopicDeadLetters, Headers: []kgo.RecordHeader{{Key: "attempt", Value: []byte("many")}}})
	lost := dltest.Headers(5, "crm", schemas.ReasonRecordTooLarge)
	p.Bury(t, kafka.DeadLetterReference(&kgo.Record{Topic: schemas.DeliverTopic("crm"), Offset: 1000}, lost, time.Now()))
	set := p.settings()
	set.Selection = deadletters.Selection{}
	told := []string{" 2 of 7 dead letters", string(noDestination), string(removed), string(disabled), string(unreadable), string(gone)}

	set.DryRun = true
	expect(t, p.run(set), append(told, "would redrive")...)
	p.delivered(0, 0)
	set.DryRun = false
	expect(t, p.run(set), append(told, "redriven")...)
	p.delivered(2, 2)
	set.Selection.Destination = "nobody"
	expect(t, p.run(set), `no dead letters match, and the workspace has no destination "nobody"`)
}

// What left its value out for its size is redriven whole, as far as brokers take
// it; what they do not take does not keep the others of its batch.
func TestLargeEvents(t *testing.T) {
	t.Parallel()
	p := newPlant(t, testkit.Brokers(t), 5)
	p.Ensure(t, schemas.DeliverTopic("books"))
	large := func(i int, destination string) {
		h := dltest.Headers(i, destination, schemas.ReasonRecordTooLarge)
		event := dltest.Event(h)
		event.Topic, event.Value = schemas.DeliverTopic("books"), fmt.Appendf(nil, "%q", incompressible(20_000))
		kafka.SetHeaders(event, &schemas.Headers{Source: h.Source, Type: h.Type, MessageID: h.MessageID})
		p.Bury(t, event)
		p.Bury(t, kafka.DeadLetterReference(event, h, time.Now()))
	}
	large(5, "books")
	large(6, "crm")
	p.cluster.Limit(t, schemas.DeliverTopic("crm"), 10_000)
	set := p.settings()
	set.Selection = deadletters.Selection{}
	expect(t, p.run(set), "redriven 6 of 7", string(tooLarge))
	p.delivered(5, 5)
	if got := p.cluster.ReadAll(t, schemas.DeliverTopic("books"), 3); len(got[2].Value) == 0 {
		t.Errorf("the event that was left out was sent without its value")
	}
	if marks := p.cluster.ReadAll(t, schemas.TopicRedriven, 6); len(marks) != 6 {
		t.Errorf("%d marks, want one for each that was sent", len(marks))
	}
}

// TestARecordListThatIsTooLarge: brokers have a second way to refuse a batch for its
// size. A redrive ends either way, with what is not refused alone redriven.
func TestARecordListThatIsTooLarge(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		refusals int // -1: every one
		want     string
	}{{2, "redriven 5 of 5"}, {-1, "redriven 0 of 5"}} {
		p := newPlant(t, testkit.Fake(t), 5)
		p.cluster.Fake.Fault(kfake.Fault{Topic: schemas.DeliverTopic("crm"), Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.RecordListTooLarge, Count: test.refusals})
		expect(t, p.run(p.settings()), test.want)
	}
}

// incompressible is text that no codec brings below half its size.
func incompressible(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(rand.Text())
	}
	return b.String()
}

// Nothing is sent of a user who is suppressed, but that the user is to be deleted.
func TestSuppressedUsersStay(t *testing.T) {
	t.Parallel()
	p := newPlant(t, testkit.Brokers(t), 0)
	deletion, call := dltest.Headers(0, "crm", schemas.ReasonStatus4xx), dltest.Headers(1, "crm", schemas.ReasonStatus4xx)
	deletion.Type = schemas.TypeDelete
	p.Die(t, call)
	p.Die(t, deletion)
	set := p.settings()
	set.Suppressed = func(userID []byte) bool {
		return string(userID) == string(dltest.Event(call).Key) || string(userID) == string(dltest.Event(deletion).Key)
	}
	expect(t, p.run(set), "redriven 1 of 2 dead letters", string(suppressed))
	if sent := p.delivered(1, 1)[0]; string(sent.Key) != string(dltest.Event(deletion).Key) {
		t.Errorf("sent the event of %s, want the deletion", sent.Key)
	}
}

// TestWhereWeMayNotRead: an event whose value was left out, on a topic that the
// principal of a redrive has no Read on, keeps back no other one.
func TestWhereWeMayNotRead(t *testing.T) {
	t.Parallel()
	p := newPlant(t, testkit.Fake(t), 1)
	h := dltest.Headers(1, "crm", schemas.ReasonRecordTooLarge)
	p.Bury(t, kafka.DeadLetterReference(&kgo.Record{Topic: "webhook-retry.30s", Offset: 7}, h, time.Now()))
	p.cluster.Fake.Fault(kfake.Fault{Topic: "webhook-retry.30s", Err: kerr.TopicAuthorizationFailed, Count: -1})
	expect(t, p.run(p.settings()), "redriven 1 of 2 dead letters", string(forbidden))
}
