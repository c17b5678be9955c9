package identity

import (
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/message"
	"github.com/anabranch/anabranch/schemas"
)

// What may become of a claim.
const (
	Merged  = "merged"
	Linked  = "linked"   // the id had no state
	Refused = "refused"  // it is another user's
	Limited = "limited"  // the user has claimed too many
	GivenUp = "given_up" // it was passed on too often
)

// Bound is how many anonymous ids a user may claim in a time.
type Bound struct {
	Max int
	Per time.Duration
}

// Identity decides for the users of a partition.
type Identity struct {
	Catalogue *engine.Catalogue
	Bound     Bound
	// Send sends a message to the owner of a user, and Count counts what became of a claim.
	Send  func(to string, m *message.Message)
	Count func(result string)
}

// Claim is an id that a call says is its user's.
type Claim struct {
	ID    string
	Alias bool // by an alias call, which user ids need
}

// Claims returns those of a call. The ids are views, as those of the call are.
func Claims(c *engine.Call) (all []Claim) {
	if c.UserID == "" {
		return nil
	}
	if c.Type == schemas.TypeAlias && c.PreviousID != "" && c.PreviousID != c.UserID {
		all = append(all, Claim{c.PreviousID, true})
	}
	if c.AnonymousID != "" && c.AnonymousID != c.UserID {
		all = append(all, Claim{c.AnonymousID, false})
	}
	return all
}

// Claim has a user claim an id, by a call of a time.
func (i *Identity) Claim(user string, p *engine.Profile, c Claim, at time.Time) {
	at = at.Truncate(time.Millisecond).UTC()
	if c.ID == user {
		return
	}
	if !c.Alias {
		last := p.Refusal(c.ID)
		if p.Linked(c.ID) || !last.IsZero() && at.Before(last.Add(i.Bound.Per)) {
			return
		}
	}
	if !c.Alias && i.claimed(p, at) >= i.Bound.Max || p.LinksFull() && !p.Linked(c.ID) {
		p.Refuse(strings.Clone(c.ID), at)
		i.Count(Limited)
		return
	}
	id := strings.Clone(c.ID)
	p.Link(id, at)
	i.Send(id, &message.Message{Kind: message.Link, Target: user, Alias: c.Alias, Rank: p.Rank, Received: at.UnixMilli()})
}

// claimed is how many ids were claimed in the time before at.
func (i *Identity) claimed(p *engine.Profile, at time.Time) (n int) {
	for _, link := range p.Links {
		if link.At.After(at.Add(-i.Bound.Per)) {
			n++
		}
	}
	return n
}

// Link takes the message that a user claims an id.
func (i *Identity) Link(id string, p *engine.Profile, m *message.Message) {
	switch to := m.Target; {
	case to == id || to == p.Redirect:
	case p.Redirect != "" && m.Alias && p.Identified():
		i.pass(p.Redirect, m) // all of them are one user
	case p.Redirect != "":
		i.refuse(id, p.Redirect, m)
	case p.Identified() && !m.Alias, p.LinksFull():
		i.refuse(id, id, m)
	case len(p.Links) > 0 && !above(m.Rank, to, p.Rank, id):
		i.Send(to, &message.Message{Kind: message.Raise, From: id, Rank: p.Rank, Hops: m.Hops, Alias: m.Alias, Received: m.Received})
	default:
		i.hand(id, p, m)
	}
}

// above reports whether one who has such a rank stands above another one.
func above(rank uint64, id string, other uint64, than string) bool {
	return rank > other || rank == other && id > than
}

// Raise takes the message that a user has to stand higher to get what they claimed.
func (i *Identity) Raise(user string, p *engine.Profile, m *message.Message) {
	switch {
	case m.From == user:
	case p.Redirect != "":
		i.pass(p.Redirect, m)
	default:
		if p.Rank <= m.Rank {
			p.Rank = m.Rank + 1
			p.Touch()
		}
		i.pass(m.From, &message.Message{Kind: message.Link, Target: user, Alias: m.Alias, Rank: p.Rank, Hops: m.Hops, Received: m.Received})
	}
}

func (i *Identity) refuse(id, owner string, m *message.Message) {
	i.Send(m.Target, &message.Message{Kind: message.Refuse, From: id, Target: owner, Received: m.Received})
}

// hand hands the state of an id over to the user who claimed it.
func (i *Identity) hand(id string, p *engine.Profile, m *message.Message) {
	if p.Empty() {
		i.Count(Linked)
	} else {
		i.Count(Merged)
	}
	state := i.Catalogue.Append(nil, p)
	p.Move(m.Target)
	i.Send(m.Target, &message.Message{Kind: message.Merge, From: id, Path: []string{id}, Received: m.Received, Value: state})
}

// pass passes a message on.
func (i *Identity) pass(to string, m *message.Message) {
	next := *m
	if next.Hops++; next.Hops > message.MaxHops {
		i.Count(GivenUp)
		return
	}
	i.Send(to, &next)
}

// Refuse takes the message that a user does not get what they claimed.
func (i *Identity) Refuse(user string, p *engine.Profile, m *message.Message) {
	switch {
	case p.Redirect != "":
		i.pass(p.Redirect, m)
	case m.Target == user || m.From == user || p.Linked(m.Target) && m.Target != m.From: // it is theirs by now
	case p.Linked(m.From):
		p.Unlink(m.From)
		p.Refuse(m.From, time.UnixMilli(m.Received).UTC())
		i.Count(Refused)
	}
}

// Merge takes a state that was handed over; true: it is to be merged into p.
func (i *Identity) Merge(user string, p *engine.Profile, m *message.Message) bool {
	switch {
	case p.Redirect != "":
		next := *m
		next.Path = append(slices.Clone(m.Path), user)
		i.pass(p.Redirect, &next)
		return false
	case p.Deletion.Request != "" && !slices.ContainsFunc(m.Path, p.Linked):
		// Whom it was for was deleted meanwhile.
		i.forget(m.Path, &message.Message{From: user, Path: append([]string{user}, m.Path...), Request: p.Deletion.Request})
		return false
	}
	return true
}

// Join merges a state that [Identity.Merge] said is to be.
func (i *Identity) Join(user string, p *engine.Profile, m *message.Message) error {
	from, err := i.Catalogue.Decode(m.Value)
	if err != nil {
		return err //nolint:wrapcheck // it says what it is of
	}
	i.Catalogue.Merge(p, from)
	for _, id := range m.Path {
		p.Link(id, time.UnixMilli(m.Received).UTC())
	}
	p.Unlink(user)
	p.Refused = slices.DeleteFunc(p.Refused, func(l engine.Link) bool { return l.ID == user || p.Linked(l.ID) })
	return nil
}

// Delete forgets a user, and that other ids are theirs. The deletion of an id that was
// merged is one of the user whom it belongs to: the caller passes it on.
func (i *Identity) Delete(user string, p *engine.Profile, d engine.Deletion) {
	if p.Deletion.Request == d.Request {
		return
	}
	ids := make([]string, 0, len(p.Links))
	for _, link := range p.Links {
		ids = append(ids, link.ID)
	}
	i.forget(ids, &message.Message{From: user, Path: append([]string{user}, ids...), Request: d.Request})
	p.Forget(d)
}

func (i *Identity) forget(ids []string, m *message.Message) {
	m.Kind = message.Forget
	for _, id := range ids {
		i.Send(id, m)
	}
}

// Forget takes the message that the user whom an id belonged to was deleted. Offset is up
// to where on raw-events its calls are forgotten.
func (i *Identity) Forget(p *engine.Profile, m *message.Message, offset int64) {
	if p.Redirect != "" && slices.Contains(m.Path, p.Redirect) {
		p.Forget(engine.Deletion{Offset: offset, Request: m.Request})
	}
}
