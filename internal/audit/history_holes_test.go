package audit

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/anabranch/anabranch/schemas/journal"
)

// check holds the report of a history against what it has to be.
func (h *history) check(t *testing.T) {
	t.Helper()
	l := h.ledger()
	defer l.piles.Close()
	h.tell(t, l)
	rows, missing, doubts := l.result()
	wantRows, wantMissing := h.want()
	if diff := gocmp.Diff(wantRows, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	byName := func(a, b Missing) int {
		return cmp.Or(cmp.Compare(a.MessageID, b.MessageID), cmp.Compare(a.Destination, b.Destination))
	}
	slices.SortFunc(missing, byName)
	slices.SortFunc(wantMissing, byName)
	if diff := gocmp.Diff(wantMissing, missing, cmpopts.IgnoreFields(Missing{}, "LastSeen"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	for _, m := range missing {
		if m.LastSeen == "" {
			t.Errorf("%+v: nothing says where it was seen last", m)
		}
	}
	if len(doubts) > 0 {
		t.Errorf("doubts of a history of which all is known: %v", doubts)
	}
	for _, r := range rows {
		if sum := r.Delivered + r.Filtered + r.Duplicate + r.Unconnected + r.Dead + r.Waiting + r.Missing; sum != r.Accepted {
			t.Errorf("%+v does not add up: %d", r, sum)
		}
	}
}

// TestHistoriesWithoutHolesAddUp: whatever way events take, with copies, retries, redrives
// and what still waits.
func TestHistoriesWithoutHolesAddUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		h := newHistory(seed, 200)
		for i := range h.IntN(20) {
			h.calls[len(h.calls)-1-i].unrouted = true
		}
		h.keepOrder()
		h.check(t)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// keepOrder leaves of calls that are not routed those behind which nothing is.
func (h *history) keepOrder() {
	for _, c := range h.calls {
		if c.unrouted {
			for _, other := range h.calls {
				other.unrouted = other.unrouted || other.partition == c.partition && other.offset > c.offset
			}
		}
	}
}

// TestPlantedHolesAreNamed: an event that is lost between any two topics, delivered and not
// journalled, or counted twice: each is named, and none beside it.
func TestPlantedHolesAreNamed(t *testing.T) {
	t.Parallel()
	planted := make(map[string]int)
	for seed := range uint64(60) {
		h := newHistory(seed, 150)
		for range 1 + h.IntN(8) {
			planted[h.plant()]++
		}
		h.check(t)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for _, hole := range []string{"router", "deliver", "retry", "waiting", "letter", "whole letter", "redrive", "twice"} {
		if planted[hole] == 0 {
			t.Errorf("no hole of the kind %s in %v", hole, planted)
		}
	}
}

// plant makes a hole in a history, and returns of which kind; empty: it found no place.
func (h *history) plant() string {
	c := h.calls[h.IntN(len(h.calls))]
	if c.untold || c.twice || c.result == journal.Duplicate || h.copied(c) {
		return ""
	}
	if c.result == journal.CallDead {
		c.letter = false
		return "whole letter"
	}
	if c.result != journal.Routed {
		return ""
	}
	w := c.ways[h.IntN(len(c.ways))]
	switch p := h.IntN(6); {
	case p == 0:
		// What is told by a sink of what no router told has no call in the range.
		c.untold = true
		return "router"
	case p == 1 && !slices.ContainsFunc(c.decisions, func(d journal.Decision) bool { return d.Result == journal.Filtered }):
		c.twice = true
		return "twice"
	case w == nil:
		return ""
	}
	return w.cut(h)
}

// copied reports whether there is a copy of a call.
func (h *history) copied(c *call) bool {
	return slices.ContainsFunc(h.calls, func(other *call) bool { return other != c && other.fingerprint == c.fingerprint })
}

// cut ends a way somewhere, where nothing accounts for it any more.
func (w *way) cut(h *history) string {
	switch {
	case w.again != nil && h.IntN(2) == 0:
		*w.again = way{}
		return "redrive"
	case w.again != nil:
		return w.again.cut(h)
	case w.letter != nil:
		w.letter = nil
		return "letter"
	case w.waits != nil:
		w.waits = nil
		return "waiting"
	case len(w.attempts) == 0:
		return ""
	}
	n := h.IntN(len(w.attempts))
	w.attempts = w.attempts[:n]
	if n == 0 {
		return "deliver"
	}
	return "retry"
}
