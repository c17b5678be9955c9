package audit

import (
	"slices"
	"testing"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	offset := int64(0)
	at := func(k kind, of ...func(*fact)) fact {
		offset++
		f := fact{kind: k, at: place{offset: offset}, number: 1, asked: k >= delivered}
		for _, change := range of {
			change(&f)
		}
		return f
	}
	fresh := func(f *fact) { f.fresh = true }
	second := func(f *fact) { f.number = 2 }
	same := at(delivered, fresh)
	unsaid := at(waiting, fresh)
	left := unsaid
	left.kind = handed
	for name, c := range map[string]struct {
		facts []fact
		cut   bool
		want  verdict
	}{
		"nothing was sent":                {facts: []fact{at(delivered)}, want: verdict{}},
		"delivered":                       {facts: []fact{at(sent), at(delivered)}, want: verdict{accepted: 1, delivered: 1}},
		"told twice after a kill":         {facts: []fact{at(sent), same, same}, want: verdict{accepted: 1, delivered: 1, repeats: 1}},
		"delivered and then given up":     {facts: []fact{at(sent), at(letter), at(delivered), at(dead)}, want: verdict{accepted: 1, delivered: 1, repeats: 1}},
		"waits, and another one does too": {facts: []fact{at(sent), at(waiting), at(waiting)}, want: verdict{accepted: 1, waiting: 1}},
		"waits by the commit alone":       {facts: []fact{at(sent), unsaid, left}, want: verdict{accepted: 1, missing: 1}},
		"its dead letter was cut":         {facts: []fact{at(sent), at(dead)}, cut: true, want: verdict{accepted: 1, dead: 1, unproven: 1}},
		"redriven, and given up again": {
			facts: []fact{at(sent), at(redriven), at(letter), at(letter), at(dead), at(dead)}, want: verdict{accepted: 1, dead: 1},
		},
		"two calls, both delivered": {
			facts: []fact{at(sent), at(sent), at(delivered, fresh), at(delivered, fresh)}, want: verdict{accepted: 2, delivered: 2},
		},
		"two calls, one delivered twice": {
			facts: []fact{at(sent), at(sent), same, same}, want: verdict{accepted: 2, delivered: 1, missing: 1},
		},
		"two calls, one never met, one delivered twice": {
			facts: []fact{at(sent), at(sent), at(delivered, second), at(delivered, second), at(handed, fresh)},
			want:  verdict{accepted: 2, delivered: 1, missing: 1},
		},
		"two calls, one delivered and one waits": {
			facts: []fact{at(sent), at(sent), at(waiting, fresh), at(delivered, fresh)}, want: verdict{accepted: 2, delivered: 1, waiting: 1},
		},
	} {
		slices.SortFunc(c.facts, compareFacts)
		got := judge(c.facts, c.cut)
		if (got.missing > 0) != (len(got.lost) == got.missing && got.missing > 0) {
			t.Errorf("%s: %d missing, of which %d are named", name, got.missing, len(got.lost))
		}
		got.lost, got.last = nil, fact{}
		if got.accepted != c.want.accepted || got.delivered != c.want.delivered || got.dead != c.want.dead || got.waiting != c.want.waiting ||
			got.missing != c.want.missing || got.repeats != c.want.repeats || got.unproven != c.want.unproven {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
