package queue

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// Message is one call, encoded.
type Message struct {
	ID   string // messageId
	Type string // "track", …
	User string // whose order is kept: the userId, else the anonymousId
	JSON []byte
	Cost int       // bytes of memory that the message keeps in use
	At   time.Time // of the call
	Seq  uint64    // set by Put: 1, 2, … in the order of the calls
	// Together is how many messages a batch with this one has at most; 0: any number.
	Together int

	user         *user
	next         *Message // the same user's
	older, newer *Message // anybody's
}

// user has messages waiting, or out, or both.
type user struct {
	key         string
	first, last *Message // waiting
	messages    int      // waiting
	bytes       int      // of these
	out         bool     // has messages in a batch that is not done
	index       int      // in ready; -1 when not there
}

// Queue is empty as its zero value.
type Queue struct {
	users          map[string]*user
	ready          ready // users who have messages waiting and none out
	oldest, newest *Message
	last           uint64
	waiting        Load
	eligible       Load
	spare          []*user
}

// Load is an amount of messages, and of their bytes in a batch.
type Load struct{ Messages, Bytes int }

// Waiting is what is in the queue.
func (q *Queue) Waiting() Load { return q.waiting }

// Eligible is that part of it which the next Take may take.
func (q *Queue) Eligible() Load { return q.eligible }

// Last returns the Seq of the youngest message ever put.
func (q *Queue) Last() uint64 { return q.last }

// Put adds a message as the youngest.
func (q *Queue) Put(m *Message) {
	q.last++
	m.Seq = q.last
	m.user = q.find(m.User)
	q.link(m)
	u := m.user
	if u.messages++; u.messages == 1 {
		u.first = m
	} else {
		u.last.next = m
	}
	u.last = m
	u.bytes += m.size()
	q.waiting.add(1, m.size())
	if u.out {
		return
	}
	q.eligible.add(1, m.size())
	if u.index < 0 {
		heap.Push(&q.ready, u)
	}
}

// Room is what a batch may have.
type Room struct {
	Messages, Bytes int
	// InOrder: none but the oldest messages, whoever's they are. Otherwise those of the
	// user with the oldest, then those of the next such user, and so on: the fewer
	// users a batch has, the more of them are left for the next one.
	InOrder bool
}

// Take removes eligible messages as far as there is room for them, and returns them in
// the order in which they were put. The first is taken whatever its size. Their users
// have to wait until Done.
func (q *Queue) Take(room Room) []*Message {
	batch := make([]*Message, 0, min(room.Messages, q.eligible.Messages))
	for len(q.ready) > 0 {
		u := q.ready[0]
		n := len(batch)
		for u.messages > 0 && room.take(u.first, len(batch)) {
			batch = append(batch, q.shift(u))
			if room.InOrder {
				break
			}
		}
		if len(batch) == n || !room.InOrder && u.messages > 0 {
			break
		}
	}
	q.holdAll(batch)
	slices.SortFunc(batch, bySeq)
	return batch
}

func bySeq(a, b *Message) int { return cmp.Compare(a.Seq, b.Seq) }

// take takes the room of a message, if there is any beside so many others.
func (r *Room) take(m *Message, others int) bool {
	most := r.Messages
	if m.Together > 0 {
		most = min(most, m.Together)
	}
	if others >= most || others > 0 && r.Bytes < m.size() {
		return false
	}
	r.Messages = most
	r.Bytes -= m.size()
	return true
}

// TakeBefore removes the eligible messages that were put before a moment, oldest
// first. Their users have to wait until Done.
func (q *Queue) TakeBefore(moment time.Time) []*Message {
	var batch []*Message
	for len(q.ready) > 0 && q.ready[0].first.At.Before(moment) {
		batch = append(batch, q.shift(q.ready[0]))
	}
	q.holdAll(batch)
	return batch
}

// Return puts messages back that Take has given out, each at its old place. Users who
// are among those of the rest of the batch have to wait until that is done.
func (q *Queue) Return(messages, rest []*Message) {
	at := q.oldest
	for _, m := range messages {
		for at != nil && at.Seq < m.Seq {
			at = at.newer
		}
		q.linkBefore(m, at)
		q.waiting.add(1, m.size())
	}
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		u := m.user
		if m.next = u.first; u.messages == 0 {
			u.last = m
		}
		u.first = m
		u.messages++
		u.bytes += m.size()
		u.out = false
	}
	for _, m := range rest {
		m.user.out = true
	}
	for _, m := range messages {
		if u := m.user; !u.out && u.index < 0 {
			q.eligible.add(u.messages, u.bytes)
			heap.Push(&q.ready, u)
		}
	}
}

// Done frees the users of a batch that was taken.
func (q *Queue) Done(batch []*Message) {
	for _, m := range batch {
		u := m.user
		if m.user = nil; !u.out {
			continue // another message of the batch was this user's
		}
		u.out = false
		if u.messages == 0 {
			q.forget(u)
			continue
		}
		q.eligible.add(u.messages, u.bytes)
		heap.Push(&q.ready, u)
	}
}

// Drop removes the oldest message that waits, or returns nil.
func (q *Queue) Drop() *Message {
	m := q.oldest
	if m == nil {
		return nil
	}
	u := m.user
	q.shift(u)
	if u.messages == 0 && !u.out {
		q.forget(u)
	}
	return m
}

// shift removes a user's first message.
func (q *Queue) shift(u *user) *Message {
	m := u.first
	u.first, m.next = m.next, nil
	u.messages--
	u.bytes -= m.size()
	q.waiting.add(-1, -m.size())
	if !u.out {
		q.eligible.add(-1, -m.size())
	}
	switch {
	case u.index < 0:
	case u.messages == 0:
		heap.Remove(&q.ready, u.index)
	default:
		heap.Fix(&q.ready, u.index)
	}
	q.unlink(m)
	return m
}

func (q *Queue) holdAll(batch []*Message) {
	for _, m := range batch {
		q.hold(m.user)
	}
}

// hold keeps what else a user has waiting out of the next batches.
func (q *Queue) hold(u *user) {
	if u.out {
		return
	}
	u.out = true
	if u.index >= 0 {
		heap.Remove(&q.ready, u.index)
		q.eligible.add(-u.messages, -u.bytes)
	}
}

// Oldest returns the oldest eligible message, or nil.
func (q *Queue) Oldest() *Message {
	if len(q.ready) == 0 {
		return nil
	}
	return q.ready[0].first
}

// size is what a message takes in a batch: a comma follows it.
func (m *Message) size() int { return len(m.JSON) + 1 }

// Size is what messages take in a batch.
func Size(messages []*Message) int {
	size := 0
	for _, m := range messages {
		size += m.size()
	}
	return size
}

func (l *Load) add(messages, bytes int) {
	l.Messages += messages
	l.Bytes += bytes
}
