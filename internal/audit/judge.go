package audit

import "slices"

// verdict is what became of some calls at one destination: as many as are accepted have
// one outcome each.
type verdict struct {
	accepted, delivered, dead, waiting, missing, repeats int
	// unproven are those of the dead whose dead letter is not there, where that may be
	// retention's doing.
	unproven int
	// lost are the calls that are missing, and last where the event was seen last.
	lost []place
	last fact
}

// judge is the equation for one event at one destination: its facts, in the order of
// [compareFacts]. Calls that the router sent twice under one fingerprint (without its memory
// of calls it does not tell copies) have as many outcomes.
//
// What is delivered counts as delivered, however often else it failed. What is not may still
// be waiting. Given up it is while there is a dead letter that was not sent again. All else is
// missing, and so is what was written to a topic on which it never was seen: only where
// several calls have one fingerprint can a repeat of one hide the loss of another.
func judge(group []fact, lettersCut bool) verdict {
	var v verdict
	t := count(group)
	if v.accepted = t.sent + t.buried; v.accepted == 0 {
		return v
	}
	rest := v.accepted
	take := func(n int) int {
		n = min(max(n, 0), rest)
		rest -= n
		return n
	}
	if v.accepted > 1 {
		// Each was to be met on the destination's topic.
		v.missing = take(t.sent + t.redriven - starts(group))
	}
	v.delivered = take(t.delivered)
	v.waiting = take(t.waiting)
	v.dead = take(t.letters - t.redriven)
	if lettersCut {
		v.unproven = take(t.buried + t.dead - t.redriven)
		v.dead += v.unproven
	}
	v.missing += take(rest)
	v.repeats = repeats(group, t.sent+t.redriven)
	if v.missing+v.unproven > 0 {
		v.lost, v.last = lost(group, v.missing)
	}
	return v
}

// total counts the facts of a group: what is known of one record counts once.
type total struct{ sent, buried, redriven, letters, waiting, delivered, dead int }

func count(group []fact) (t total) {
	for i := range group {
		f := &group[i]
		if i > 0 && f.kind == group[i-1].kind && f.at == group[i-1].at {
			continue
		}
		switch f.kind {
		case sent:
			t.sent++
		case buried:
			t.buried++
		case redriven:
			t.redriven++
		case letter:
			t.letters++
		case waiting:
			if !attempted(group, f.at) { // what the commit does not say yet
				t.waiting++
			}
		case delivered:
			t.delivered++
		case dead:
			t.dead++
		case handed:
		}
	}
	return t
}

func attempted(group []fact, at place) bool {
	return slices.ContainsFunc(group, func(f fact) bool { return f.kind >= delivered && f.at == at })
}

// starts is how many records were met on the destination's topic.
func starts(group []fact) int {
	met := make(map[place]bool)
	for i := range group {
		if group[i].fresh {
			met[group[i].at] = true
		}
	}
	return len(met)
}

// repeats is how many attempts were made beyond the first of their number, for as many
// events as were sent.
func repeats(group []fact, events int) (n int) {
	events = max(events, 1)
	if len(group) <= events+1 {
		return 0 // most are: what was sent, and one attempt
	}
	var attempts [256]int
	for i := range group {
		if f := &group[i]; f.kind >= delivered && f.asked {
			attempts[f.number]++
		}
	}
	for _, made := range attempts {
		n += max(made-events, 0)
	}
	return n
}

// lost returns the last n of the calls, and where their event was seen last: where it was
// written to last, since there it is not.
func lost(group []fact, n int) (calls []place, last fact) {
	last = group[0]
	for i := range group {
		f := &group[i]
		if f.kind <= buried {
			calls = append(calls, f.at)
		}
		if f.kind != letter && later(f, &last) {
			last = *f
		}
	}
	calls = slices.Compact(calls)
	return calls[max(len(calls)-n, 0):], last
}

// later tells which of two facts an event came to later. Clocks of two processes may
// differ, but nothing comes before what the router decides.
func later(a, b *fact) bool {
	if decided := b.kind <= buried; decided != (a.kind <= buried) {
		return decided
	}
	return a.when > b.when || a.when == b.when && a.kind > b.kind
}
