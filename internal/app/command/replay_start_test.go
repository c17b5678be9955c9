package command

import (
	"cmp"
	"flag"
	"fmt"
	"testing"
)

// TestWhatStandsBesideAPlan: it says what is sent, so nothing else may.
func TestWhatStandsBesideAPlan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args     []string
		id, says string
	}{
		{args: []string{"--from", "1h", "--type", "track"}},
		{args: []string{"p1"}, id: "p1"},
		{args: []string{"p1", "--rate", "7", "--wait", "--json"}, id: "p1"},
		{args: []string{"--rate", "7", "p1"}, id: "p1"},
		{args: []string{"p1", "--from", "1h", "--type", "track"}, says: "start: --from, --type beside the plan p1, which says what is sent: expected only --rate, --wait and --json"},
		{args: []string{"p1", "p2"}, says: "start: found [\"p1\" \"p2\"], expected the id of a plan: `anabranch replay plan` prints it"},
		{args: []string{"P 1"}, says: "start: found [\"P 1\"], expected the id of a plan: `anabranch replay plan` prints it"},
	} {
		set := flag.NewFlagSet("start", flag.ContinueOnError)
		startReplay(set)
		operands, err := parse(set, c.args)
		if err != nil {
			t.Fatal(err)
		}
		id, err := planID(set, operands)
		if said := fmt.Sprint(err); id != c.id || said != cmp.Or(c.says, "<nil>") {
			t.Errorf("%q: plan %q, %s; want %q, %q", c.args, id, said, c.id, c.says)
		}
	}
}

// TestTheRateOfAReplay is a whole number within bounds.
func TestTheRateOfAReplay(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "0", "-1", "1.5", "50001", "9999999999999999999", "500/s"} {
		if n, err := replayRate(text); err == nil || err.Error() != fmt.Sprintf("%q: expected a whole number of events a second, 1 to 50000", text) {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	for text, want := range map[string]int{"1": 1, "50000": 50_000} {
		if n, err := replayRate(text); n != want || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
}
