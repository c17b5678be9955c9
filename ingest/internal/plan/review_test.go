package plan

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/internal/workspace"
)

const canary = "canary-4f1d"

// calls are one that conforms, one that violates the plan and one that it does not
// judge.
const calls = `{"batch":[` +
	`{"type":"track","event":"Order Completed","userId":"u","messageId":"1","properties":{"order_id":"1"}},` +
	`{"type":"track","event":"Order Completed","userId":"u","messageId":"2","properties":{"order_id":7,"total":"` + canary + `"},"context":{"locale":"de"}},` +
	`{"type":"screen","userId":"u","messageId":"3","properties":{"x":1}}]}`

func within(action workspace.PlanAction) *workspace.Snapshot {
	plan := shop()
	plan.Action = action
	return workspace.NewSnapshot([]workspace.Source{{ID: "website", Plan: plan}, {ID: "app"}}, nil)
}

// accept takes calls in through a source and returns the values by messageId.
func accept(t *testing.T, s *workspace.Snapshot, source string) (review *Review, accepted map[string]string, blocked decode.Blocked) {
	t.Helper()
	review = new(Plans).Review(s, source)
	d := new(decode.Decoder)
	if err := d.Parse([]byte(calls), ""); err != nil {
		t.Fatal(err)
	}
	rejected, err := d.Accept(decode.Terms{ReceivedAt: time.UnixMilli(0), Review: review.Judge()})
	if err != nil || len(rejected) > 0 {
		t.Fatal(rejected, err)
	}
	accepted = make(map[string]string)
	for i := range d.Events().Len() {
		e := d.Events().At(i)
		accepted[e.MessageID] = string(e.Value)
	}
	return review, accepted, d.Blocked()
}

func TestActions(t *testing.T) {
	t.Parallel()
	const (
		plain = `"context":{"locale":"de"}`
		found = `[{"path":"properties.order_id","message":"found a number, expected a string"},{"path":"properties.total","message":"found a string, expected a number"}]`
	)
	for action, context := range map[workspace.PlanAction]string{
		workspace.PlanAllow: plain,
		workspace.PlanMark:  `"context":{"locale":"de","protocols":{"violations":` + found + `}}`,
		workspace.PlanBlock: "",
	} {
		review, accepted, blocked := accept(t, within(action), "website")
		if review.Violating() != 1 || review.Action() != action {
			t.Errorf("%s: %d calls violate a plan of action %s", action, review.Violating(), review.Action())
		}
		if _, ok := accepted["2"]; ok != (context != "") || !strings.Contains(accepted["2"], context) {
			t.Errorf("%s: the call that violates the plan is stored as %q", action, accepted["2"])
		}
		if len(accepted)+blocked.Len() != 3 || strings.Contains(accepted["1"]+accepted["3"], "violations") {
			t.Errorf("%s: the others are stored as %q", action, accepted)
		}
	}
}

func TestBlockedCallsSayWhy(t *testing.T) {
	t.Parallel()
	_, _, blocked := accept(t, within(workspace.PlanBlock), "website")
	if blocked.Len() != 1 {
		t.Fatalf("%d calls are blocked", blocked.Len())
	}
	const want = "properties.order_id: found a number, expected a string; properties.total: found a string, expected a number"
	if got := blocked.Violation(0); got.Message != want || got.Code != "" || strings.Contains(got.Message, canary) {
		t.Errorf("got %q, %q", got.Code, got.Message)
	}
	if got := string(blocked.At(0).Value); strings.Contains(got, "violations") || !strings.Contains(got, `"total":"`+canary+`"`) {
		t.Errorf("it is not as it came: %s", got)
	}
}

func TestWithoutPlan(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"app", "nobody"} {
		review, accepted, blocked := accept(t, within(workspace.PlanBlock), source)
		if review.Judge() != nil || review.Violating() != 0 || review.Action() != "" || len(accepted) != 3 || blocked.Len() != 0 {
			t.Errorf("%s: %+v, %d accepted, %d blocked", source, review, len(accepted), blocked.Len())
		}
	}
}

// TestPlansFollowTheWorkspace changes one of two plans: what is compiled of the
// other one stays.
func TestPlansFollowTheWorkspace(t *testing.T) {
	t.Parallel()
	first, second, kept := shop(), &workspace.TrackingPlan{}, &workspace.TrackingPlan{Action: workspace.PlanMark}
	snapshot := func(changing *workspace.TrackingPlan) *workspace.Snapshot {
		return workspace.NewSnapshot([]workspace.Source{{ID: "website", Plan: changing}, {ID: "app", Plan: kept}, {ID: "server"}}, nil)
	}
	var plans Plans
	one, two, none := snapshot(first), snapshot(second), snapshot(nil)
	website, app := plans.Of(one, "website"), plans.Of(one, "app")
	if website == nil || plans.Of(one, "website") != website || plans.Of(one, "server") != nil {
		t.Error("plans are not those of the workspace")
	}
	if got := plans.Of(two, "website"); got == website || got == nil || plans.Of(two, "app") != app {
		t.Error("plans are not those of the second workspace")
	}
	if plans.Of(none, "website") != nil || plans.Of(none, "app") != app {
		t.Error("plans are not those of the third workspace")
	}
}

// TestPlansDuringChange has requests ask for both sides of a change at a time.
func TestPlansDuringChange(t *testing.T) {
	t.Parallel()
	old, changed := within(workspace.PlanMark), within(workspace.PlanBlock)
	var plans Plans
	var requests sync.WaitGroup
	for range 4 {
		requests.Go(func() {
			for range 200 {
				got := []workspace.PlanAction{plans.Of(old, "website").action, plans.Of(changed, "website").action}
				if diff := cmp.Diff([]workspace.PlanAction{workspace.PlanMark, workspace.PlanBlock}, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
	requests.Wait()
}

func TestLookUpCostsNoMemory(t *testing.T) {
	s := within(workspace.PlanMark)
	var plans Plans
	plans.Of(s, "website")
	if n := testing.AllocsPerRun(100, func() { plans.Of(s, "website"); plans.Of(s, "app") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
