package body

import (
	"io"
	"time"
)

// begin gets b ready for what a sender sends. Memory that it has kept is given up
// when there is no room for it.
func (b *Body) begin(source io.Reader, from Sender) {
	now := time.Now()
	b.source, b.sender, b.received = source, from, 0
	b.began, b.due, b.counted = now, now.Add(grace), 0
	if kept := cap(b.raw) - firstRead; kept > 0 && !b.take(kept) {
		b.raw = make([]byte, 0, firstRead)
	}
}

// take reports whether there was so much room, which b then has.
func (b *Body) take(n int) bool {
	if !b.booked && b.received > 0 {
		b.renew(time.Now()) // nobody else has seen it yet
	}
	ok := b.pool.room.take(b, n)
	b.booked = b.booked || ok
	return ok
}

// arrival is a body while it is waited for.
type arrival Body

// Read reads from the sender. One that takes of the room has to go on sending, from
// its second read on: most bodies are there with the first.
func (a *arrival) Read(p []byte) (int, error) {
	b := (*Body)(a)
	if b.booked && b.received > 0 && !b.hurry() {
		return 0, ErrNoRoom
	}
	n, err := b.source.Read(p)
	b.received += n
	return n, err
}

// hurry gives the sender until when the next part has to come. False tells that b
// had to make way.
func (b *Body) hurry() bool {
	due := b.pool.room.renew(b)
	if b.sender.Conn != nil {
		b.hurried = true
		_ = b.sender.Conn.SetReadDeadline(due)
	}
	// Who had to make way just now has lost its deadline, which lay in the past, to
	// this one.
	return b.pool.room.keeps(b)
}

// interrupt ends a read that waits for the sender. It is for others to call.
func (b *Body) interrupt() {
	if b.sender.Conn != nil {
		_ = b.sender.Conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// end is for the end of what the sender sends. False tells that b had to make way
// meanwhile.
func (b *Body) end() bool {
	if b.booked && !b.pool.room.whole(b) {
		return false
	}
	if b.hurried {
		// As the server had it: it reads on when a body is refused for its length.
		_ = b.sender.Conn.SetReadDeadline(b.began.Add(longest))
	}
	return true
}

// leave gives back what b took of the room.
func (b *Body) leave() {
	if b.booked {
		b.pool.room.put(b)
	}
	b.source, b.sender = nil, Sender{}
	b.booked, b.hurried, b.evicted = false, false, false
}

// renew counts what has arrived since, with the lock of the room held.
func (b *Body) renew(now time.Time) {
	b.due = b.due.Add(time.Duration(b.received-b.counted) * time.Second / leastRate)
	b.counted = b.received
	for _, most := range [...]time.Time{now.Add(credit), b.began.Add(longest)} {
		if b.due.After(most) {
			b.due = most
		}
	}
}
