package engine

import (
	"slices"
	"time"
)

// MaxRefused is how many ids that were refused a profile keeps: the newest.
const MaxRefused = 20

// MaxLinkBytes is how many bytes the ids of Links may take for more of them to be claimed:
// two who have less can still become one, whose record has its bound as well.
const MaxLinkBytes = 24 << 10

// LinksFull reports whether there is no room for more Links.
func (p *Profile) LinksFull() bool {
	const each = 8 // bytes beside the id, about
	size := 0
	for i := range p.Links {
		size += len(p.Links[i].ID) + each
	}
	return size >= MaxLinkBytes
}

// Linked reports whether an id is one of Links.
func (p *Profile) Linked(id string) bool { return linkOf(p.Links, id) >= 0 }

// Unlink removes an id from Links.
func (p *Profile) Unlink(id string) {
	if i := linkOf(p.Links, id); i >= 0 {
		p.Links, p.dirty = slices.Delete(p.Links, i, i+1), true
	}
}

// Refuse notes in Refused that an id was.
func (p *Profile) Refuse(id string, at time.Time) {
	if i := linkOf(p.Refused, id); i >= 0 {
		p.Refused = slices.Delete(p.Refused, i, i+1)
	}
	p.Refused, p.dirty = append(p.Refused, Link{id, at}), true
	if n := len(p.Refused); n > MaxRefused {
		p.Refused = slices.Delete(p.Refused, 0, n-MaxRefused)
	}
}

// Refusal returns when an id was refused last; zero: it was not.
func (p *Profile) Refusal(id string) time.Time {
	if i := linkOf(p.Refused, id); i >= 0 {
		return p.Refused[i].At
	}
	return time.Time{}
}

// Move leaves of the user that they are another one from now on. Whether the id is a
// user's stays, and the count of changes, which later ones must not repeat.
func (p *Profile) Move(to string) {
	*p = Profile{Redirect: to, Deletion: p.Deletion, Rank: p.Rank, identified: p.identified, seq: p.seq, dirty: true}
}

func linkOf(links []Link, id string) int {
	return slices.IndexFunc(links, func(l Link) bool { return l.ID == id })
}
