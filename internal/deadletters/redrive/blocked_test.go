package redrive

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/deadletters/internal/dltest"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestBlockedCallsBeginAnew redrives a call that a tracking plan had blocked, beside
// one that died at its destination: the former goes to raw-events.
func TestBlockedCallsBeginAnew(t *testing.T) {
	t.Parallel()
	p := newPlant(t, testkit.Brokers(t), 1)
	h := schemas.Headers{
		Source: "website", Type: schemas.TypeTrack, MessageID: "m1", Integrations: []byte(`{"All":false}`), Origin: schemas.OriginAPI, Only: []string{"crm"},
		Reason: schemas.ReasonPlanViolation, Detail: "event: not in the tracking plan",
	}
	p.Die(t, h)
	set := p.settings()
	set.Selection = deadletters.Selection{}
	expect(t, p.run(set), "redriven 2 of 2 dead letters", "-  ", "plan_violation")
	p.delivered(1, 1)
	got := p.cluster.ReadAll(t, schemas.TopicRawEvents, 1)[0]
	event := dltest.Event(h)
	if string(got.Key) != string(event.Key) || string(got.Value) != string(event.Value) {
		t.Errorf("redriven %s=%s, want %s=%s", got.Key, got.Value, event.Key, event.Value)
	}
	headers, err := kafka.HeadersOf(got)
	if err != nil {
		t.Fatal(err)
	}
	want := schemas.Headers{Source: h.Source, Type: h.Type, MessageID: h.MessageID, Integrations: h.Integrations, Only: h.Only, Origin: schemas.OriginReplay}
	if diff := cmp.Diff(want, headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	set.Selection.Reason = schemas.ReasonPlanViolation
	expect(t, p.run(set), "redriven 0 of 1", "1 was redriven before")
}
