package regulation

import "maps"

// look returns what is known of a regulation from both topics; the zero value for
// nothing. What it holds is the caller's.
func (g *Register) look(id string) entry {
	now := g.own(id)
	if g.former == nil {
		return now
	}
	return join(now, g.former.own(id))
}

func (g *Register) own(id string) entry {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.entries[id]
	if e == nil {
		return entry{}
	}
	c := *e
	c.parts, c.former = maps.Clone(e.parts), maps.Clone(e.former)
	return c
}

// ids returns those of all regulations.
func (g *Register) ids() []string {
	seen := make(map[string]bool)
	for r := g; r != nil; r = r.former {
		r.mu.Lock()
		for id := range r.entries {
			seen[id] = true
		}
		r.mu.Unlock()
	}
	ids := make([]string, 0, len(seen))
	for id := range seen {
		ids = append(ids, id)
	}
	return ids
}

// join returns what two topics say of a regulation together, regulations and workspace. A request of an earlier
// release is carried on in the topic `regulations`, while processes of that release may
// still carry it on in the topic `workspace`: the further of the two is what was done.
func join(e, was entry) entry {
	if was.stored && (!e.stored || was.ahead(e.Regulation)) {
		e.Regulation, e.stored = was.Regulation, true
	}
	if e.Status.Final() {
		e.parts, e.token, e.former = nil, "", nil
		return e
	}
	e.parts = union(was.parts, e.parts)
	e.former = union(was.former, e.former)
	if e.token == "" {
		e.token = was.token
	} else if was.token != "" {
		e.former = union(e.former, map[string]bool{was.token: true})
	}
	return e
}

// ahead tells whether more was done of the regulation than another record says.
func (r Regulation) ahead(of Regulation) bool {
	return !of.Status.Final() && (r.Status.Final() || r.Notified > of.Notified)
}

// union returns one map of two; the second one overrides.
func union[K comparable, V any](a, b map[K]V) map[K]V {
	if a == nil {
		return b
	}
	maps.Copy(a, b)
	return a
}
