package ingest

import (
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// planned is a workspace of a source for each action, with the action as its write
// key.
func planned() *workspace.Snapshot {
	var sources []workspace.Source
	for _, action := range workspace.PlanActions() {
		sources = append(sources, workspace.Source{
			ID: string(action), WriteKeyHash: workspace.HashWriteKey(string(action)), Enabled: true,
			Plan: &workspace.TrackingPlan{Action: action, Events: map[string]workspace.PlannedObject{
				"Order Completed": {Properties: map[string]workspace.PlannedProperty{"total": {Type: workspace.NumberType}}},
			}},
		})
	}
	return workspace.NewSnapshot(sources, nil)
}

const orders = `{"writeKey":"KEY","batch":[` +
	`{"type":"track","event":"Order Completed","userId":"u","messageId":"good","properties":{"total":1}},` +
	`{"type":"track","event":"Order Completed","userId":"u","messageId":"wrong","properties":{"total":"one"}},` +
	`{"type":"track","event":"Order Lost","userId":"u","messageId":"unplanned"},` +
	`{"type":"track","userId":"u","messageId":"bad"}]}`

// TestTrackingPlans sends the same batch under each action. To the client they are
// all the same.
func TestTrackingPlans(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	s.handler.workspace.Store(planned())
	for _, action := range workspace.PlanActions() {
		got := s.post(t, "/v1/batch", strings.Replace(orders, "KEY", string(action), 1), noAuth)
		if got.status != 200 || !strings.Contains(got.body, `"index":3`) || strings.Contains(got.body, `"index":1`) {
			t.Errorf("%s: answered %d %s", action, got.status, got.body)
		}
	}
	stored := s.stored(t, 7) // three under allow and mark, one under block
	for _, text := range stored {
		marked := strings.Contains(text, `"protocols":{"violations":[{"path":"`)
		if want := strings.Contains(text, "source=mark") && !strings.Contains(text, `"messageId":"good"`); marked != want {
			t.Errorf("marked is %v: %s", marked, text)
		}
	}
	const why = " reason=plan_violation detail="
	for i, want := range []string{"properties.total: found a string, expected a number", "event: not in the tracking plan"} {
		if text := render(s.cluster.ReadAll(t, schemas.TopicDeadLetters, 2)[i]); !strings.Contains(text, why+want+" failed-at=") || !strings.Contains(text, "source=block ") {
			t.Errorf("dead letter %d: %s", i, text)
		}
	}
	for result, want := range map[string]float64{"accepted": 7, "blocked": 2, "rejected": 3, "suppressed": 0} {
		if got := s.value(t, "anabranch_ingest_events_total", result); got != want {
			t.Errorf("%v events %s, want %v", got, result, want)
		}
	}
	for _, action := range workspace.PlanActions() {
		if got := s.value(t, "anabranch_ingest_plan_violations_total", string(action)+" "+string(action)); got != 2 {
			t.Errorf("%s: %v events violate the plan, want 2", action, got)
		}
	}
}

// TestAWhollyBlockedRequestIsAccepted takes in a call that leaves nothing for
// raw-events, and again after the plan was changed.
func TestAWhollyBlockedRequestIsAccepted(t *testing.T) {
	const call = `{"type":"track","event":"Order Lost","userId":"u","messageId":"1","writeKey":"block"}`
	s := start(t, testkit.Brokers(t))
	s.handler.workspace.Store(planned())
	if got := s.post(t, "/v1/track", call, noAuth); got.status != 200 || got.body != success {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	s.stored(t, 0)
	s.cluster.ReadAll(t, schemas.TopicDeadLetters, 1)
	s.handler.workspace.Store(workspace.NewSnapshot([]workspace.Source{{ID: "block", WriteKeyHash: workspace.HashWriteKey("block"), Enabled: true}}, nil))
	if got := s.post(t, "/v1/track", call, noAuth); got.status != 200 {
		t.Errorf("without a plan: answered %d %s", got.status, got.body)
	}
	s.stored(t, 1)
}
