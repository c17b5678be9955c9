package personas

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/message"
)

// list is asked for resyncs.
type list []changelog.Resync

// ask returns what has become of one then.
func (l *list) ask(t *testing.T, id string, cancel bool) changelog.ResyncState {
	t.Helper()
	before, was := fmt.Sprint(*l), *l
	*l = asked(*l, &message.Resyncing{ID: id, Key: "k", Destination: "d", Rate: 7, Cancel: cancel}, 5)
	if fmt.Sprint(was) != before {
		t.Error("what was handed over has changed")
	}
	for i := range *l {
		if (*l)[i].ID == id {
			return (*l)[i].State
		}
	}
	return ""
}

// TestResyncsThatAreAskedFor: what was cancelled goes on, and what is done stays so.
func TestResyncsThatAreAskedFor(t *testing.T) {
	t.Parallel()
	var all list
	ask := func(id string, cancel bool) changelog.ResyncState { return all.ask(t, id, cancel) }
	if got := ask("a", true); got != "" {
		t.Errorf("cancelled before it was asked for: %s", got)
	}
	if got := ask("a", false); got != changelog.Resyncing || all[0].Began != 5 || all[0].Rate != 7 {
		t.Errorf("%s, %+v", got, all)
	}
	all[0].Told, all[0].From = 3, []byte("m")
	if got := ask("a", true); got != changelog.Cancelled || inHand(all) >= 0 {
		t.Errorf("cancelled: %s, %+v", got, all)
	}
	if got := ask("a", false); got != changelog.Resyncing || all[0].Told != 3 || string(all[0].From) != "m" {
		t.Errorf("asked for again: %s, %+v", got, all)
	}
	all[0].State = changelog.Resynced
	for _, cancel := range []bool{false, true} {
		if got := ask("a", cancel); got != changelog.Resynced {
			t.Errorf("done: %s", got)
		}
	}
}

// TestFewResyncsAreKept of those that have ended, and all that have not.
func TestFewResyncsAreKept(t *testing.T) {
	t.Parallel()
	var all list
	all.ask(t, "done", false)
	all[0].State = changelog.Resynced
	for i := range 2 * mostResyncs {
		all.ask(t, strconv.Itoa(i), false)
	}
	if len(all) != 2*mostResyncs || all[0].ID != "0" {
		t.Errorf("%d are kept of %d that run", len(all), 2*mostResyncs)
	}
	for i := range all {
		all[i].State = changelog.Resynced
	}
	if all.ask(t, "last", false); len(all) != mostResyncs || all[len(all)-1].ID != "last" {
		t.Errorf("%d are kept: %+v", len(all), all)
	}
}

// TestTheRateOfAResync holds over time, and makes up for no more than a second.
func TestTheRateOfAResync(t *testing.T) {
	t.Parallel()
	for rate := range int64(4000) {
		r := changelog.Resync{Rate: rate + 1, Paid: 1_000_000 * 1000}
		told := int64(0)
		for now := int64(1_000_000); now <= 1_010_000; now += 250 {
			n := refill(&r, now)
			told += n
			r.Paid += n * (1_000_000 / r.Rate)
		}
		if most := 10*r.Rate + 1; told > most+most/50 || told < most-r.Rate/2-2 {
			t.Fatalf("at %d a second %d were told in ten", r.Rate, told)
		}
		if n := refill(&r, 2_000_000); n > r.Rate+1 {
			t.Fatalf("after a long time %d are told at once", n)
		}
	}
}
