package messagetrace_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/messagetrace"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// TestFindViolations: calls that were marked and calls that were blocked, by the rule.
func TestFindViolations(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	p.call("u1", "m1")
	p.call("u2", "m2")
	p.write(schemas.TopicRawEvents, "u3", schemas.Headers{Source: "app", Type: schemas.TypeTrack, MessageID: "m3"})
	dead := &kgo.Record{Topic: schemas.TopicDeadLetters, Key: []byte("u4"), Value: []byte(`{"type":"track","event":"Signed Up"}`)}
	kafka.SetHeaders(dead, &schemas.Headers{Source: "web", Type: schemas.TypeTrack, MessageID: "m4", Reason: schemas.ReasonPlanViolation, Detail: "properties.plan: found nothing, expected a string"})
	p.produce(dead)
	p.log.Workspace = workspace.NewSnapshot([]workspace.Source{{ID: "web"}, {ID: "app", Plan: &workspace.TrackingPlan{Action: workspace.PlanAllow}}}, nil)
	of := messagetrace.ViolationsOf{Source: "web", Since: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Minute)}
	v, err := messagetrace.FindViolations(t.Context(), p.log, of)
	if err != nil {
		t.Fatal(err)
	}
	if v.Marked != 2 || v.Blocked != 1 || len(v.Rules) != 2 || len(v.Notes) != 0 || v.From.After(of.Since) {
		t.Errorf("of the source web: %+v", v)
	}
	of.Source = ""
	v, err = messagetrace.FindViolations(t.Context(), p.log, of)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err = messagetrace.PrintViolations(&text, v); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"properties.plan: found a number, expected a string", "properties.plan: found nothing, expected a string", "3 calls were marked and 1 blocked", "m4", "the plan of app lets calls pass unmarked"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("printed without %q:\n%s", want, text.String())
		}
	}
	checkCutViolations(t, p, of)
}

// checkCutViolations: where time runs out, what was found is told, and since when it is known.
func checkCutViolations(t *testing.T, p *past, of messagetrace.ViolationsOf) {
	t.Helper()
	of.Since = of.Since.Add(-100 * 24 * time.Hour)
	cut, stop := context.WithCancel(t.Context())
	p.log.Progress = func(back time.Time, _ int64) {
		if time.Since(back) > 24*time.Hour {
			stop()
		}
	}
	v, err := messagetrace.FindViolations(cut, p.log, of)
	if !errors.Is(err, context.Canceled) || v == nil || v.Marked != 3 || !v.From.After(of.Since) {
		t.Errorf("where time runs out: %+v, %v", v, err)
	}
}
