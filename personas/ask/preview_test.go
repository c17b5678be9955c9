package ask

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/emit"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestPreview: what a preview says is what the stage then tells, for a changed threshold, a
// changed window, and definitions that are new.
func TestPreview(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		next := shop(t)
		next.Audiences[0] = audience(t, `{"id":"buyers_5m","when":{"did":"Order Completed","times":{"gte":1},"within":"5m"}}`)
		next.Audiences[1] = audience(t, `{"id":"big_spenders","when":{"did":"Order Completed","take":"sum","of":"total","is":{"gte":60},"within":"3m"}}`)
		next.Audiences = append(next.Audiences, audience(t, `{"id":"hats","when":{"did":"Order Completed","where":{"category":"hats"},"times":{"gte":3}}}`))
		next.Traits = append(next.Traits, trait(t, `{"id":"spent","take":"sum","of":"total","did":"Order Completed"}`))
		next.Audiences[0].Version, next.Audiences[1].Version = 2, 2
		p, err := Changes(t.Context(), &b.Log, Workspace{defined: next}, "")
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now().Add(-time.Second)
		before := b.Workspace
		b.apply(next)
		settle()
		told, _, err := b.told(t.Context(), nil, Span{Since: begun}, func(told *Told) bool { return told.Cause == "edit" })
		if err != nil {
			t.Fatal(err)
		}
		want, got := counts(told), make(map[string]count)
		for _, d := range p.Definitions {
			got[d.Key] = count{d.Enter, d.Leave, d.Change}
			if d.Before+d.Enter-d.Leave != d.After && d.Kind == engine.ClassAudience || len(d.Sample) != min(int(d.Enter+d.Leave+d.Change), sampled) {
				t.Errorf("%+v", d)
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(count{})); diff != "" || len(want) < 4 {
			t.Errorf("what was told, and what the preview said (-told +preview):\n%s", diff)
		}
		b.Workspace = before
		some, err := Changes(t.Context(), &b.Log, Workspace{defined: next}, "hats")
		if err != nil || len(some.Definitions) != 1 || some.Definitions[0].Key != "hats" {
			t.Errorf("of one key: %+v, %v", some, err)
		}
		if _, err := Changes(t.Context(), &b.Log, Workspace{defined: next}, "hat"); err == nil {
			t.Error("a key that there is not is previewed")
		}
	})
}

// count is how many were told of a definition.
type count struct{ enter, leave, change int64 }

func counts(all []Told) map[string]count {
	by := make(map[string]count)
	for _, change := range all {
		n := by[change.Key]
		switch {
		case change.Kind == engine.ClassComputedTrait:
			n.change++
		case string(change.Value) == "true":
			n.enter++
		default:
			n.leave++
		}
		by[change.Key] = n
	}
	return by
}

// TestPreviewWithoutAStage: all that there is is new.
func TestPreviewWithoutAStage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), engine.Definitions{})
		b.send(t, b.track("ann", "Order Completed", `{}`), b.track("bob", "Other", `{}`), b.identify("cid", `{"plan":"pro"}`))
		virtual.Sleep(time.Second)
		next := engine.Definitions{Audiences: []engine.Audience{
			audience(t, `{"id":"bought","when":{"did":"Order Completed"}}`),
			audience(t, `{"id":"never","when":{"did":"Order Completed","times":0}}`),
			audience(t, `{"id":"from_now_on","history":"none","when":{"did":"Order Completed"}}`),
		}}
		p, err := Changes(t.Context(), &b.Log, Workspace{defined: next}, "")
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]int64)
		for _, d := range p.Definitions {
			got[d.Key] = d.Enter
		}
		if diff := cmp.Diff(map[string]int64{"bought": 1, "never": 2, "from_now_on": 0}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestCheck: nothing is wrong until something is planted.
func TestCheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		v, err := Check(t.Context(), &b.Log)
		if err != nil || v.Differences != 0 || v.Users != 20 || len(v.Checked) != 5 {
			t.Fatalf("with nothing wrong: %+v, %v", v, err)
		}
		members, _, err := Members(t.Context(), &b.Log, "winback", Page{})
		if err != nil || len(members) == 0 {
			t.Fatal(members, err)
		}
		// A call that nobody has processed, and one that tells what is not so.
		user := members[0].UserID
		c := engine.Change{Class: engine.ClassAudience, Key: "winback", ID: "winback", Version: 1, At: time.Now(), Cause: engine.CauseEvent, Seq: 1000}
		b.send(t, emit.Records(emit.User{ID: user}, &c, emit.Telling{By: definition.SendIdentify})...)
		virtual.Sleep(time.Second)
		v, err = Check(t.Context(), &b.Log)
		if err != nil {
			t.Fatal(err)
		}
		want := []Wrong{{
			UserID: user, Key: "winback", Kind: engine.ClassAudience, Told: truth(false), True: []byte("null"),
			Detail: "what was told last differs from what the stage keeps of it",
		}}
		if diff := cmp.Diff(want, v.Wrong); diff != "" || v.Differences != 1 {
			t.Errorf("with a lie on raw-events, %d (-want +got):\n%s", v.Differences, diff)
		}
	})
}

// TestCheckOfAState: a user whose state is not what raw-events makes of it is found.
func TestCheckOfAState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := engine.Definitions{Audiences: []engine.Audience{audience(t, `{"id":"buyers","when":{"did":"Order Completed"}}`)}}
		b := newBench(t, testkit.Virtual(t), d)
		stop := b.start(t)
		virtual.Sleep(3 * time.Second)
		b.send(t, b.track("ann", "Other", `{}`))
		settle()
		stop()
		// The stage takes for processed what it has not seen.
		c, err := b.Workspace.compile()
		if err != nil {
			t.Fatal(err)
		}
		u, err := b.user(t.Context(), c, "ann")
		if err != nil {
			t.Fatal(err)
		}
		bought := b.track("ann", "Order Completed", `{}`)
		b.send(t, bought)
		places, err := b.state(t.Context(), []int32{u.home}, func(int32, []byte, []byte) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		m := places[u.home].Clone()
		m.Raw = bought.Offset + 1
		b.write(t, m.Record(u.home))
		v, err := Check(t.Context(), &b.Log)
		want := []Wrong{{UserID: "ann", Key: "buyers", Kind: engine.ClassAudience, Told: truth(false), True: truth(true), Detail: "raw-events says otherwise"}}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, v.Wrong); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		b.apply(engine.Definitions{})
		if _, err := Check(t.Context(), &b.Log); err == nil {
			t.Error("what the stage has not taken up is checked")
		}
	})
}

// TestCheckAddsUpInAnyOrder: what was added up to other last digits, since two users became
// one in the midst of it, is no difference.
func TestCheckAddsUpInAnyOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sum := trait(t, `{"id":"spent","take":"sum","of":"total","did":"Order Completed"}`)
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Traits: []engine.Trait{sum}})
		b.start(t)
		virtual.Sleep(3 * time.Second)
		spend := func(user, total string) {
			b.send(t, b.track(user, "Order Completed", `{"total":`+total+`}`))
			settle()
		}
		spend("ann", "0.1")
		spend("bob", "0.2")
		b.send(t, b.call(schemas.TypeAlias, "ann", `"previousId":"bob"`))
		settle()
		spend("bob", "0.3")
		if p, err := Look(t.Context(), &b.Log, "ann"); err != nil || string(p.Computed["spent"]) != "0.6000000000000001" {
			t.Fatalf("%s, %v", p.Computed, err)
		}
		if v, err := Check(t.Context(), &b.Log); err != nil || v.Differences != 0 || v.Users == 0 {
			t.Errorf("%+v, %v", v, err)
		}
	})
}

// write writes records where they say.
func (b *bench) write(t *testing.T, records ...*kgo.Record) {
	t.Helper()
	cl := b.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := cl.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// TestACopyCountsOnce in what is computed again.
func TestACopyCountsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), engine.Definitions{})
		rec := b.track("ann", "Order Completed", `{}`)
		again := *rec
		b.send(t, rec, &again)
		virtual.Sleep(time.Second)
		next := engine.Definitions{Audiences: []engine.Audience{audience(t, `{"id":"twice","when":{"did":"Order Completed","times":{"gte":2}}}`)}}
		p, err := Changes(t.Context(), &b.Log, Workspace{defined: next}, "twice")
		if err != nil || p.Definitions[0].Enter != 0 || p.AsOf[home("ann", partitions)].Calls != 2 {
			t.Errorf("%+v, %v", p, err)
		}
	})
}
