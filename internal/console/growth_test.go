package console

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/personas/ask"
)

func sampleGrowth() *Growth {
	return &Growth{Cut: true, Growth: &ask.Growth{
		Key: "buyers", From: noon, To: noon.Add(2 * time.Hour), Size: 1_204, Entered: 1_210, Left: 6, Deleted: true,
		Steps: []ask.Step{{From: noon, Entered: 1_200, Size: 1_200}, {From: noon.Add(time.Hour), Entered: 10, Left: 6, Size: 1_204}},
	}}
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	var got growthView
	got.fill(sampleGrowth())
	want := growthView{
		Now: "1,204", Entered: "1,210", Left: "6", Reach: "since 2026-11-21 12:00:00Z: raw-events holds nothing earlier", Cut: true,
		Largest: "1,204", Width: 20, Sizes: []column{{0, 1, 99}, {10, 0, 100}}, Ins: []column{{0, 0, 50}, {10, 49, 1}}, Outs: []column{{0, 50, 0}, {10, 50, 1}},
		SizeLabel: "Size: 1,200 at first, 1,204 at last, 1,204 at most", InsLabel: "1,210 entered, 6 left, 1,200 at most in one step",
		Rows: []stepRow{{"2026-11-21 13:00:00Z", "10", "6", "1,204"}, {"2026-11-21 12:00:00Z", "1,200", "0", "1,200"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(growthView{}, progress{})); diff != "" {
		t.Errorf("the view differs (-want +got):\n%s", diff)
	}
	var none growthView
	if none.fill(&Growth{Growth: &ask.Growth{Steps: []ask.Step{{From: noon}}}}); none.Sizes[0].Height != 0 || none.Ins[0].Height != 0 {
		t.Errorf("of nobody there is %+v", none)
	}
}

// TestWhatIsAskedOfGrowth: fields of the query, and what leads there.
func TestWhatIsAskedOfGrowth(t *testing.T) {
	t.Parallel()
	var got GrowthOf
	c := newConsole(t, func(set *Settings) {
		set.Questions.Personas.Growth = func(_ context.Context, of GrowthOf, _ func(string)) (*Growth, error) {
			got = of
			return sampleGrowth(), nil
		}
	})
	page := look(t, c, Path+"/growth?key=buyers&since=168h")
	if want := (GrowthOf{"buyers", 168 * time.Hour}); got != want {
		t.Errorf("asked for %+v, want %+v", got, want)
	}
	for _, want := range []string{`aria-label="Size: 1,200 at first`, `<rect class="out" x="10"`, "in four minutes", "raw-events holds nothing earlier"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	if page := look(t, c, Path+"/persona?key=buyers"); !strings.Contains(page, `href="/console/growth?key=buyers"`) {
		t.Error("the audience does not lead there")
	}
	for _, query := range []string{"", "key=buyers&since=7h"} {
		if w := serve(c, request(t, http.MethodGet, Path+"/growth?"+query, "")); w.Code != http.StatusBadRequest {
			t.Errorf("%q was answered %d", query, w.Code)
		}
	}
}
