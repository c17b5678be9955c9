package console

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/messagetrace"
	"github.com/anabranch/anabranch/schemas"
)

func sampleViolations(text string) *Violations {
	return &Violations{Cut: true, Violations: &messagetrace.Violations{
		From: noon.Add(-time.Hour), To: noon, Marked: 1_204, Blocked: 3, Others: 7, Notes: []string{text}, Rules: []messagetrace.Rule{
			{
				Source: text, Type: schemas.TypeTrack, Event: text, Violation: messagetrace.Violation{Path: text, Message: "not in the tracking plan"},
				Marked: 1_204, First: noon.Add(-time.Hour), Last: noon, Samples: []messagetrace.Sample{{At: noon, MessageID: text, User: text}},
			},
			{
				Source: "app", Type: schemas.TypeIdentify, Violation: messagetrace.Violation{Path: "traits.email", Message: "found nothing, expected a string"},
				Blocked: 3, First: noon, Last: noon, Samples: []messagetrace.Sample{{At: noon, MessageID: "m2", User: "u2", DeadLetter: "1-704"}},
			},
		},
	}}
}

func TestViolations(t *testing.T) {
	t.Parallel()
	got := violationsView{Search: "EMAIL"}
	got.fill(sampleViolations("Signed Up"), "")
	want := violationsView{
		Search: "EMAIL", pager: pager{Found: 1, Number: 1, Last: 1}, Cut: true, Others: "7", Notes: []string{"Signed Up"},
		Summary: "1,204 calls were marked and 3 blocked from 2026-11-21 11:00:00Z to 2026-11-21 12:00:00Z",
		Rows: []violationRow{{
			Source: "app", Type: "identify", Rule: "traits.email: found nothing, expected a string", Marked: "0", Blocked: "3",
			First: "2026-11-21 12:00:00Z", Last: "2026-11-21 12:00:00Z", Samples: []sampleRow{{"m2", "u2", "2026-11-21 12:00:00Z", "1-704"}},
		}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(violationsView{}, progress{}, pager{})); diff != "" {
		t.Errorf("the view differs (-want +got):\n%s", diff)
	}
}

// TestWhatIsAskedOfViolations: fields of the query, and what they lead to.
func TestWhatIsAskedOfViolations(t *testing.T) {
	t.Parallel()
	var got ViolationsOf
	c := newConsole(t, func(set *Settings) {
		set.Questions.Violations = func(_ context.Context, of ViolationsOf, _ func(string)) (*Violations, error) {
			got = of
			return sampleViolations("Signed Up"), nil
		}
	})
	page := look(t, c, Path+"/violations?source=gone&since=1h")
	if want := (ViolationsOf{"gone", time.Hour}); got != want {
		t.Errorf("asked for %+v, want %+v", got, want)
	}
	for _, want := range []string{
		`<option value="gone" selected>`, "/console/event?id=m2&amp;user=u2&amp;since=1h", "/console/dead-letter?id=1-704", "7 violations more", "in a minute", "Note: Signed Up",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	if page := look(t, c, Path+"/workspace"); !strings.Contains(page, `href="/console/violations"`) {
		t.Error("the workspace does not lead to them")
	}
	for _, query := range []string{"source=A", "since=7h"} {
		if w := serve(c, request(t, http.MethodGet, Path+"/violations?"+query, "")); w.Code != http.StatusBadRequest {
			t.Errorf("%s was answered %d", query, w.Code)
		}
	}
}

// TestViolationsFromBrokers are counted where they stand.
func TestViolationsFromBrokers(t *testing.T) {
	t.Parallel()
	b := newBrokers(t)
	if err := b.Topics.Ensure(t.Context(), schemas.TopicRawEvents, schemas.TopicDeadLetters); err != nil {
		t.Fatal(err)
	}
	r := &kgo.Record{
		Topic: schemas.TopicRawEvents, Key: []byte("u1"),
		Value: []byte(`{"event":"A","context":{"protocols":{"violations":[{"path":"event","message":"not in the tracking plan"}]}}}`),
	}
	kafka.SetHeaders(r, &schemas.Headers{Source: "website", Type: schemas.TypeTrack, MessageID: "m1"})
	if err := b.Topics.Client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]int64{"": 1, "website": 1, "app": 0} {
		found, err := FromBrokers(b).Violations(t.Context(), ViolationsOf{source, time.Hour}, func(string) {})
		if err != nil || found.Marked != want || found.Cut {
			t.Errorf("of %q: %+v, %v", source, found, err)
		}
	}
}
