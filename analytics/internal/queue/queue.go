package queue

import "container/heap"

// Message is one call, encoded.
type Message struct {
	ID   string // messageId
	Type string // "track", …
	User string // whose order is kept: the userId, else the anonymousId
	JSON []byte
	Seq  uint64 // set by Put: 1, 2, … in the order of the calls

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

// Due returns the Seq of the oldest eligible message; ok is false when there is
// none.
func (q *Queue) Due() (seq uint64, ok bool) {
	if len(q.ready) == 0 {
		return 0, false
	}
	return q.ready[0].first.Seq, true
}

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

// Take removes up to messages of the oldest eligible messages, as far as they fit
// into bytes, in the order in which they were put. The first is taken whatever
// its size. Their users have to wait until Done.
func (q *Queue) Take(messages, bytes int) []*Message {
	batch := make([]*Message, 0, min(messages, q.eligible.Messages))
	for len(batch) < messages && len(q.ready) > 0 {
		u := q.ready[0]
		bytes -= u.first.size()
		if bytes < 0 && len(batch) > 0 {
			break
		}
		batch = append(batch, q.shift(u))
	}
	for _, m := range batch {
		q.hold(m.user)
	}
	return batch
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

// size is what a message takes in a batch: a comma follows it.
func (m *Message) size() int { return len(m.JSON) + 1 }

func (l *Load) add(messages, bytes int) {
	l.Messages += messages
	l.Bytes += bytes
}
