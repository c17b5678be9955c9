package engine_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/personas/internal/engine"
)

// TestLinks are kept as they were noted, and of those refused the newest.
func TestLinks(t *testing.T) {
	t.Parallel()
	c := compile(t, engine.Definitions{})
	p := c.NewProfile()
	p.Link("a", at(0))
	p.Link("b", at(dayLong))
	p.Unlink("a")
	for i := range engine.MaxRefused + 3 {
		p.Refuse(fmt.Sprint("r", i), at(0))
	}
	p.Refuse("r5", at(dayLong))
	p.Rank = 7
	got, err := c.Decode(p.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]engine.Link{{ID: "b", At: at(dayLong)}}, got.Links); diff != "" || got.Rank != 7 || !got.Linked("b") || got.Linked("a") {
		t.Errorf("rank %d (-want +got):\n%s", got.Rank, diff)
	}
	if n := len(got.Refused); n != engine.MaxRefused || !got.Refusal("r5").Equal(at(dayLong)) || !got.Refusal("r0").IsZero() {
		t.Errorf("%d refused: %v", n, got.Refused)
	}
	got.Move("u")
	if got.Redirect != "u" || len(got.Links)+len(got.Refused) > 0 || got.Rank != 7 || !got.Dirty() {
		t.Errorf("moved: %+v", got)
	}
}
