package ask

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestGrowth: who entered and left in which hour, however a change is told, and how many there
// were then.
func TestGrowth(t *testing.T) {
	t.Parallel()
	for _, send := range []string{"both", "track", "identify"} {
		t.Run(send, func(t *testing.T) {
			t.Parallel()
			checkGrowth(t, send)
		})
	}
}

func checkGrowth(t *testing.T, send string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := engine.Definitions{Audiences: []engine.Audience{
			audience(t, `{"id":"buyers","send":"`+send+`","when":{"did":"Order Completed","within":"90m"}}`),
			audience(t, `{"id":"others","when":{"did":"Order Completed"}}`),
		}}
		b := newBench(t, testkit.Virtual(t), d)
		b.start(t)
		virtual.Sleep(3 * time.Second)
		begun := time.Now().UTC().Truncate(time.Hour)
		b.send(t, b.track("ann", "Order Completed", `{}`), b.track("bob", "Order Completed", `{}`))
		virtual.Sleep(time.Hour)
		b.send(t, b.track("cid", "Order Completed", `{}`))
		virtual.Sleep(time.Hour)
		g, err := GrowthOf(t.Context(), &b.Log, "buyers", begun)
		if err != nil {
			t.Fatal(err)
		}
		want := []Step{{begun, 2, 0, 2}, {begun.Add(time.Hour), 1, 2, 1}, {begun.Add(2 * time.Hour), 0, 0, 1}}
		if diff := cmp.Diff(want, g.Steps); diff != "" || g.Size != 1 || g.Entered != 3 || g.Left != 2 || g.Deleted || !g.From.Equal(begun) {
			t.Errorf("the growth is %+v, steps (-want +got):\n%s", g, diff)
		}
		var text bytes.Buffer
		if err = PrintGrowth(&text, g); err != nil || !strings.Contains(text.String(), "3 entered and 2 left, since ") {
			t.Errorf("printed %q, %v", text.String(), err)
		}
		checkCutGrowth(t, b)
	})
}

// checkCutGrowth: where time runs out, the steps that were read are complete.
func checkCutGrowth(t *testing.T, b *bench) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := b.Log
	log.Progress = func(done, total int64) {
		if done == 2 && total > 20 {
			cancel()
		}
	}
	g, err := GrowthOf(ctx, &log, "buyers", time.Now().Add(-day))
	if !errors.Is(err, context.Canceled) || g == nil || len(g.Steps) != 2 || g.Steps[0].Left != 2 {
		t.Errorf("where time runs out: %+v, %v", g, err)
	}
}

func TestGrowthThatThereIsNot(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t), shop(t))
	for name, of := range map[string]struct {
		key  string
		back time.Duration
		want string
	}{
		"no such audience":  {"buyers_6m", time.Hour, `did you mean "buyers_5m"?`},
		"a computed trait":  {"orders", time.Hour, `there is no audience "orders"`},
		"of the future":     {"buyers_5m", -time.Hour, "expected a time of the past"},
		"too long ago":      {"buyers_5m", 2 * MostGrowth, "366 days ago at most"},
		"of nobody at all ": {"buyers_5m", time.Hour, ""},
	} {
		g, err := GrowthOf(t.Context(), &b.Log, of.key, time.Now().Add(-of.back))
		if of.want == "" && (err != nil || g.Size != 0 || g.Entered != 0 || len(g.Steps) == 0) || of.want != "" && (err == nil || !strings.Contains(err.Error(), of.want)) {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}
}

// TestASizeIsNeverNegative: who was deleted had entered.
func TestASizeIsNeverNegative(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	g := &Growth{Size: 1}
	g.fill([]stretch{
		{at.Add(time.Hour), map[change]int64{{1, schemas.TypeIdentify, true}: 3}},
		{at, map[change]int64{{1, schemas.TypeIdentify, true}: 2}},
	})
	if diff := cmp.Diff([]Step{{at, 2, 0, 0}, {at.Add(time.Hour), 3, 0, 1}}, g.Steps); diff != "" {
		t.Error(diff)
	}
}
