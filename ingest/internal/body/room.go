package body

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// all is what the bodies in hand may take together, beside the first read of
	// each: thousands of clients that send half a megabyte and then nothing would
	// take gigabytes. It is a hundred of the largest batches, or many thousands of
	// ordinary ones.
	all = 64 << 20
	// ofStrangers is what those may take of it whose key is not known to be good:
	// however many there are, sources that say who they are have the rest.
	ofStrangers = all - all/4
	// ofStranger is what those of one address may take.
	ofStranger = all / 2
)

const (
	// grace is how long a body may take whatever its length.
	grace = 2 * time.Second
	// leastRate is how many bytes a second have to arrive from then on; a mobile
	// network of the second generation has ten times as many.
	leastRate = 1 << 10
	// longest is how long a body may take at all, as long as the server lets a request
	// take: a deadline that is put off must not be put off beyond that.
	longest = 15 * time.Second
	// credit is for how long a body may stand still at most, however much of it has
	// arrived before: a network that lost a packet twice in a row needs three seconds.
	credit = 4 * time.Second
	// firstTime is how long no body has to make way for another.
	firstTime = 200 * time.Millisecond
)

// nowhere is the place of a body that is not waited for.
const nowhere = -1

// Sender is who sends a body.
type Sender struct {
	// Addr is the address that stands for one customer of a network provider.
	Addr netip.Addr
	// Known tells that the request has a good key, in its header or its query.
	Known bool
	// Conn ends a read that waits for the sender; nil when nothing can.
	Conn interface{ SetReadDeadline(time.Time) error }
}

// room is the memory that bodies in hand may take. The zero value is all of it.
type room struct {
	mu        sync.Mutex
	taken     int
	strangers int
	stranger  map[netip.Addr]int
	arriving  []*Body // that have some of it, each at its place
}

// take reports whether there is room for n bytes of b, which then has them. If not,
// bodies have to make way that arrive more slowly.
func (r *room) take(b *Body, n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b.evicted {
		return false
	}
	for l := r.lacks(b, n); l != nothing; l = r.lacks(b, n) {
		slow := r.slowest(b, l, time.Now())
		if slow == nil {
			return false
		}
		r.release(slow)
		slow.evicted = true
		// With the lock held: once slow is put back, its connection may have another
		// request.
		slow.interrupt()
	}
	r.book(b, n)
	return true
}

// lack is whose bodies take what somebody else needs.
type lack int

const (
	nothing lack = iota
	ofAll
	ofAllStrangers
	ofOneAddress
)

// lacks returns what keeps b from having n bytes more.
func (r *room) lacks(b *Body, n int) lack {
	switch {
	case r.taken+n > all:
		return ofAll
	case b.sender.Known:
		return nothing
	case r.strangers+n > ofStrangers:
		return ofAllStrangers
	case r.stranger[b.sender.Addr]+n > ofStranger:
		return ofOneAddress
	}
	return nothing
}

// slowest returns the arriving body that has the least time left to go on, of those
// whose memory would help and that have less left than b; nil when there is none. A
// known source does not make way for a stranger.
func (r *room) slowest(b *Body, l lack, now time.Time) *Body {
	var found *Body
	least := b.due
	for _, other := range r.arriving {
		helps := b.sender.Known || !other.sender.Known && (l != ofOneAddress || other.sender.Addr == b.sender.Addr)
		if helps && other != b && other.due.Before(least) && now.Sub(other.began) >= firstTime {
			found, least = other, other.due
		}
	}
	return found
}

// book notes that b has n bytes more.
func (r *room) book(b *Body, n int) {
	if b.taken == 0 {
		b.place = len(r.arriving)
		r.arriving = append(r.arriving, b)
	}
	r.taken += n
	b.taken += n
	if !b.sender.Known {
		if r.stranger == nil {
			r.stranger = make(map[netip.Addr]int)
		}
		r.strangers += n
		r.stranger[b.sender.Addr] += n
	}
}

// release takes back all that b has.
func (r *room) release(b *Body) {
	if b.taken == 0 {
		return
	}
	r.settle(b)
	r.taken -= b.taken
	if !b.sender.Known {
		r.strangers -= b.taken
		if r.stranger[b.sender.Addr] -= b.taken; r.stranger[b.sender.Addr] == 0 {
			delete(r.stranger, b.sender.Addr)
		}
	}
	b.taken = 0
}

// renew counts what has arrived of b and returns until when more has to come.
func (r *room) renew(b *Body) (due time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b.renew(time.Now())
	return b.due
}

// keeps reports whether b still has what it took.
func (r *room) keeps(b *Body) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !b.evicted
}

// whole notes that all of b is there, so that it can't have to make way any more.
// False tells that it had to.
func (r *room) whole(b *Body) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !b.evicted {
		r.settle(b)
	}
	return !b.evicted
}

// settle takes b off the list of those that arrive, if it is there.
func (r *room) settle(b *Body) {
	if b.place == nowhere {
		return
	}
	last := len(r.arriving) - 1
	r.arriving[b.place] = r.arriving[last]
	r.arriving[b.place].place = b.place
	r.arriving[last] = nil
	r.arriving = r.arriving[:last]
	b.place = nowhere
}

// put takes back all that b has.
func (r *room) put(b *Body) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.release(b)
}
