package wstopic

import (
	"testing"

	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestAppliesAreNoted in the transaction that changes something, and nowhere else.
func TestAppliesAreNoted(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	p.By = "ada"
	apply(t, p, wstest.Of("a", "b"))
	p.By = "bob"
	before := read(t, c)
	apply(t, p, wstest.Of("a", "b"))
	if state := read(t, c); state.End() != before.End() {
		t.Error("an application that changes nothing writes something")
	}
	apply(t, p, wstest.Of("a"))
	state := read(t, c)
	all := state.History()
	if len(all) != 2 || all[0].By != "bob" || len(all[0].Changes) != 1 || all[0].Changes[0].Op != "-" || all[1].By != "ada" {
		t.Errorf("the history is %+v", all)
	}
	for _, one := range state.Holdings() {
		if one.By != "ada" || one.Changed.IsZero() {
			t.Errorf("%+v was not changed by ada", one)
		}
	}
}
