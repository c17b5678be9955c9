package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// keep plans all that there is, and keeps the plan.
func (b *bench) keep(t *testing.T, choice Choice) *Forecast {
	t.Helper()
	f := b.plan(t, choice)
	if err := b.operator().Keep(t.Context(), f, time.Now()); err != nil {
		t.Fatal(err)
	}
	return f
}

func (b *bench) operator() *Operator { return &Operator{Kafka: b.Options(), Topics: b.topics} }

// planned is what the start of a plan comes to.
func (b *bench) planned(t *testing.T, id string, now time.Time) (*Plan, error) {
	t.Helper()
	return b.operator().Planned(t.Context(), id, b.live.Load(), now)
}

// refused fails unless a plan can't be started, for a reason.
func (b *bench) refused(t *testing.T, id string, now time.Time, reason string) {
	t.Helper()
	if _, err := b.planned(t, id, now); err == nil || !strings.Contains(err.Error(), reason) {
		t.Errorf("%s: %v, want %q", id, err, reason)
	}
}

// TestAPlanIsStarted sends what was planned, and nothing that came since, once.
func TestAPlanIsStarted(t *testing.T) {
	t.Parallel()
	b := newBench(t, "crm", "lake")
	b.fill(t, 100)
	f := b.keep(t, Choice{Destination: "lake", Event: "e3"})
	var text strings.Builder
	if err := f.Print(&text); err != nil || !strings.Contains(text.String(), "anabranch replay start "+f.Run.ID+"\n") {
		t.Errorf("%v\n%s", err, text.String())
	}
	b.fillFrom(t, 100, 50)

	p, err := b.planned(t, f.ID, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Found{Events: 100, Send: map[string]int64{"lake": 14}, Digest: f.Digest}, p.Found); diff != "" || len(f.Digest) != digestDigits {
		t.Errorf("digest %q (-want +got):\n%s", f.Digest, diff)
	}
	if diff := cmp.Diff(*f.Run, p.Run); diff != "" {
		t.Errorf("the run (-planned +started):\n%s", diff)
	}
	b.drain(t, "lake")
	testkit.Start(t, b.service(t).Run)
	if err = b.operator().Write(t.Context(), &p.Run); err != nil {
		t.Fatal(err)
	}
	if e := b.over(t, f.ID); e.Sent() != 14 || e.Left()[Unwanted] != 86 {
		t.Errorf("sent %d, left out %v", e.Sent(), e.Left())
	}
	b.refused(t, f.ID, time.Now(), "was started already")
}

// TestPlansThatCannotBeStarted says why, and what to do.
func TestPlansThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	b := newBench(t, "crm", "lake")
	b.fill(t, 100)
	f := b.keep(t, Choice{})
	now := time.Now()
	b.refused(t, "never", now, `no plan "never": expected the id that`)
	b.refused(t, b.ask(t, nil).ID, now, "is a replay: expected a plan")
	b.refused(t, f.ID, now.Add(PlanLife+time.Minute), "was made 1d ago: expected one of the last 1d")

	was := b.live
	b.live = workspace.NewLive(connected("crm"))
	b.refused(t, f.ID, now, "the workspace does not have the destinations lake any more")
	b.live = was

	cut := kadm.Offsets{}
	deleted := int64(0)
	for num, o := range f.Run.Ranges {
		if n := o.To - o.From; n > 1 {
			cut.AddOffset(schemas.TopicRawEvents, num, o.From+n/2, -1)
			deleted += n / 2
		}
	}
	admin := kadm.NewClient(b.Client(t))
	if _, err := admin.DeleteRecords(t.Context(), cut); err != nil {
		t.Fatal(err)
	}
	b.refused(t, f.ID, now, fmt.Sprintf("retention has deleted %d of its 100 events since: plan once more", deleted))
}

// TestTheSamePlanTwice has the same digest, and another one has another.
func TestTheSamePlanTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t, "crm", "lake")
	b.fill(t, 100)
	one, two := b.keep(t, Choice{}), b.keep(t, Choice{})
	other := b.keep(t, Choice{Event: "e3"})
	b.fillFrom(t, 100, 1)
	later := b.keep(t, Choice{})
	if one.Digest != two.Digest || one.ID == two.ID || other.Digest == one.Digest || later.Digest == one.Digest {
		t.Errorf("digests %s, %s, %s and %s", one.Digest, two.Digest, other.Digest, later.Digest)
	}
}

// TestPlansAreForgotten: those that can't be started, and the oldest of too many.
func TestPlansAreForgotten(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := NewBook()
	for i := range mostPlans + 2 {
		id := fmt.Sprintf("plan-%02d", i)
		run := Run{ID: id, Wish: Running, CreatedAt: now}
		if i == 1 {
			run.CreatedAt = now.Add(-PlanLife - time.Second)
		}
		put(t, b, &Plan{Run: run}, kindPlan, id)
		if i == 2 {
			put(t, b, &run, kindRun, id)
		}
	}
	if len(b.All()) != 1 {
		t.Errorf("%d runs, one was started", len(b.All()))
	}
	// With the one that is kept there would be one too many.
	want := []string{"plan-01", "plan-02", "plan-00"}
	got := outdated(b.plans(), now)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("forgotten (-want +got):\n%s", diff)
	}
	for _, id := range got {
		if err := b.Add(&kgo.Record{Topic: schemas.TopicReplays, Key: []byte(kindPlan + "/" + id)}); err != nil {
			t.Error(err)
		}
	}
	if kept := b.plans(); len(kept) != mostPlans-1 || slices.ContainsFunc(kept, func(e *Entry) bool { return slices.Contains(got, e.Plan.ID) }) {
		t.Errorf("%d plans are left, want %d", len(kept), mostPlans-1)
	}
	if b.Get("plan-00") != nil || b.Get("plan-02") == nil {
		t.Error("of a plan nothing is left, of a run all")
	}
}
