package messagetrace

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

func TestViolationsOfADeadLetter(t *testing.T) {
	t.Parallel()
	const mismatch, planned = "found a number, expected a string", "not in the tracking plan"
	for detail, want := range map[string][]Violation{
		"event: " + planned: {{"event", planned}},
		"properties.plan: " + mismatch + "; properties.x: " + planned: {{"properties.plan", mismatch}, {"properties.x", planned}},
		"properties.plan: " + mismatch + "; and others":               {{"properties.plan", mismatch}},
		"properties.a; b: c: " + mismatch:                             {{"properties.a; b: c", mismatch}},
		"properties.a\nb: " + planned:                                 {{"properties.a\nb", planned}},
		"words of a later release":                                    {{"", "words of a later release"}},
		"":                                                            {{}},
	} {
		if diff := cmp.Diff(want, violationsOf(detail)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", detail, diff)
		}
	}
}

// FuzzViolationsOf: whatever a dead letter says, something is counted, and names that don't
// hold the words of a finding come out as they went in.
func FuzzViolationsOf(f *testing.F) {
	f.Add("plan", "a; b: c")
	f.Add("", "\n")
	f.Fuzz(func(t *testing.T, first, second string) {
		if len(violationsOf(first)) == 0 {
			t.Errorf("%q comes to nothing", first)
		}
		words := func(name string) bool {
			return strings.Contains(name, ": found ") || strings.Contains(name, ": not in the tracking plan")
		}
		if words(first) || words(second) {
			return
		}
		want := []Violation{{"properties." + first, "found nothing, expected a string"}, {"properties." + second, "not in the tracking plan"}}
		if got := violationsOf(want[0].Text() + "; " + want[1].Text()); !slices.Equal(got, want) {
			t.Errorf("%q and %q come out as %q", first, second, got)
		}
	})
}

func violating(at int, messageID, value string, h schemas.Headers) *kgo.Record {
	h.Source, h.Type, h.MessageID = "web", schemas.TypeTrack, messageID
	r := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte("u1"), Value: []byte(value), Timestamp: after(at)}
	if h.Reason != "" {
		r.Topic = schemas.TopicDeadLetters
	}
	kafka.SetHeaders(r, &h)
	return r
}

// TestTally: windows that are read one after the other come to what all at once does.
func TestTally(t *testing.T) {
	t.Parallel()
	const marked = `{"event":"Signed Up","context":{"protocols":{"violations":[{"path":"properties.a","message":"found nothing, expected a string"}]}}}`
	records := []*kgo.Record{
		violating(4, "m5", `{"event":"Signed Up"}`, schemas.Headers{Reason: schemas.ReasonPlanViolation, Detail: "properties.a: found nothing, expected a string; event: not in the tracking plan"}),
		violating(3, "m4", marked, schemas.Headers{}),
		violating(3, "m3", `{"event":"Signed Up","properties":{"violations":[1]}}`, schemas.Headers{}),
		violating(2, "m2", marked, schemas.Headers{Reason: schemas.ReasonStatus4xx}), // it was counted where it was marked
		violating(1, "m1", marked, schemas.Headers{}),
		violating(0, "m0", marked, schemas.Headers{}),
	}
	samples := []Sample{{after(4), "m5", "u1", "0-0"}, {after(3), "m4", "u1", ""}, {after(1), "m1", "u1", ""}}
	want := []Rule{
		{"web", "track", "Signed Up", Violation{"properties.a", "found nothing, expected a string"}, 3, 1, after(0), after(4), samples},
		{"web", "track", "Signed Up", Violation{"event", "not in the tracking plan"}, 0, 1, after(4), after(4), samples[:1]},
	}
	for _, size := range []int{1, 2, len(records)} {
		all := &tally{rules: make(map[rule]*Rule)}
		for part := range slices.Chunk(records, size) {
			one := &tally{rules: make(map[rule]*Rule)}
			for _, r := range part {
				one.take(r)
			}
			all.merge(one)
		}
		if diff := cmp.Diff(want, all.sorted()); diff != "" || all.marked != 3 || all.blocked != 1 || all.others != 0 {
			t.Errorf("%d at a time: %d marked, %d blocked, %d others, rules (-want +got):\n%s", size, all.marked, all.blocked, all.others, diff)
		}
	}
}

// TestManyRules: what callers call their events is counted in bounded memory, and none of it
// is left out of the sums.
func TestManyRules(t *testing.T) {
	t.Parallel()
	all := &tally{rules: make(map[rule]*Rule)}
	for i := range MostRules + 7 {
		all.take(violating(i, "m", fmt.Sprintf(`{"event":"e%d","context":{"protocols":{"violations":[{"path":"event","message":"x"}]}}}`, i), schemas.Headers{}))
	}
	if len(all.rules) != MostRules || all.others != 7 || all.marked != MostRules+7 {
		t.Errorf("%d rules, %d others, %d calls", len(all.rules), all.others, all.marked)
	}
}

func TestViolationWindows(t *testing.T) {
	t.Parallel()
	until := after(0)
	for _, back := range []time.Duration{time.Second, time.Hour, 30 * 24 * time.Hour} {
		to := until
		for i, w := range violationWindows(until.Add(-back), until) {
			if !w.To.Equal(to) || !w.From.Before(w.To) || w.To.Sub(w.From) > longestWindow {
				t.Fatalf("window %d of %s is from %s to %s, expected one that ends at %s", i, back, w.From, w.To, to)
			}
			to = w.From
		}
		if !to.Equal(until.Add(-back)) {
			t.Errorf("the windows of %s begin at %s", back, to)
		}
	}
}
