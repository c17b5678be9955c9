package regulation

import "maps"

// Renew is for reading the topic from its start, which a process does when it begins
// and when the topic was deleted and made anew: it returns what takes in the records,
// and what adds them to the register once all were read. Were they applied to it one
// by one, a request that is finished would be unfinished for a moment, and a run would
// find its own claim a second time and take that for a successor's.
//
// What the topic no longer holds stays in force while the process lives: to go on
// dropping the calls of users who have asked for it is safer than to take them in
// because a topic was lost, and a request that was accepted is carried out. finish
// returns how many suppressed users and unfinished requests that are.
func (g *Register) Renew() (apply func(key, value []byte) error, finish func() (users, requests int)) {
	next := newRegister(g.keys)
	return next.Apply, func() (int, int) {
		return g.Suppressed.add(&next.Suppressed), g.add(next)
	}
}

// add takes over the entries of a register that nobody else uses, and returns how
// many unfinished ones of its own that one lacks.
func (g *Register) add(next *Register) (missing int) {
	defer g.wake()
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, e := range g.entries {
		switch replacement := next.entries[id]; {
		case replacement != nil:
			replacement.succeed(e)
		case e.unfinished():
			missing++
		}
	}
	maps.Copy(g.entries, next.entries)
	return missing
}

// succeed keeps the tokens of earlier runs: one of them may still wait to see that
// it was succeeded.
func (e *entry) succeed(former *entry) {
	tokens := maps.Clone(former.former)
	if tokens == nil {
		tokens = make(map[string]bool)
	}
	tokens[former.token] = true
	maps.Copy(tokens, e.former)
	delete(tokens, e.token)
	delete(tokens, "")
	e.former = tokens
}
