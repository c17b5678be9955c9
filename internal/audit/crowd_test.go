package audit

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// crowd is calls by the million, with what the stages tell of them. They are on partitions in
// turn: the n-th has the offset n/crowdPartitions of partition n%crowdPartitions. Most go to
// two destinations, which take them.
type crowd struct {
	began time.Time
	keyID uint32
	print func(n int) uint64
}

const crowdPartitions = 6

func newCrowd() *crowd {
	return &crowd{began: time.Now(), keyID: 7, print: func(n int) uint64 { return uint64(n) * 0x9e3779b97f4a7c15 }}
}

// Of every so many calls one is a copy, is not for mail, is taken by crm at the second
// attempt, or is given up at mail. No call is two of these.
const (
	everyCopy     = 100
	everyFiltered = 50
	everyRetried  = 20
	everyDead     = 1000
)

func isCopy(n int) bool     { return n%everyCopy == 99 }
func isFiltered(n int) bool { return n%everyFiltered == 7 }
func isRetried(n int) bool  { return n%everyRetried == 3 }
func isDead(n int) bool     { return n%everyDead == 11 }

// rows are what an audit of calls from the first up to n has to come to.
func (c *crowd) rows(n int) []Row {
	none, crm, mail := Row{Source: "web"}, Row{Source: "web", Destination: "crm"}, Row{Source: "web", Destination: "mail"}
	for i := range n {
		if isCopy(i) {
			none.Accepted++
			continue
		}
		crm.Accepted++
		if isFiltered(i) {
			mail.Filtered++
		}
		if isDead(i) {
			mail.Dead++
		}
	}
	none.Duplicate, crm.Delivered, mail.Accepted = none.Accepted, crm.Accepted, crm.Accepted
	mail.Delivered = mail.Accepted - mail.Filtered - mail.Dead
	return slices.DeleteFunc([]Row{none, crm, mail}, func(r Row) bool { return r.Accepted == 0 })
}

// tell hands out the records of the journal about calls from one up to another, the first a
// multiple of crowdPartitions.
func (c *crowd) tell(from, to int, write func(*journal.Head, []byte) error) error {
	const together = 500 * crowdPartitions
	for ; from < to; from += together {
		for num := range min(crowdPartitions, to-from) {
			if err := c.part(num, from, min(from+together, to), write); err != nil {
				return err
			}
		}
	}
	return nil
}

// part is tell for a partition.
func (c *crowd) part(num, from, to int, write func(*journal.Head, []byte) error) error {
	var calls journal.Calls
	tries := map[string]*journal.Attempts{schemas.DeliverTopic("crm"): {}, schemas.DeliverTopic("mail"): {}, retryTopic: {}}
	next := int64(0)
	for n := from + num; n < to; n += crowdPartitions {
		call := c.call(n)
		next = call.Offset + 1
		calls.Add(call)
		c.attempts(n, call, func(topic string, a *journal.Attempt) { tries[topic].Add(a) })
	}
	head := journal.Head{Stage: "router", Topic: schemas.TopicRawEvents, Partition: int32(num), From: int64(from / crowdPartitions), Next: next, KeyID: c.keyID, Base: c.began}
	if err := write(&head, calls.Append(nil, &head)); err != nil {
		return err
	}
	for topic, all := range tries {
		if all.Len() == 0 {
			continue
		}
		head.Stage, head.Topic = "webhook-sink", topic
		head.From, head.Next = all.Range()
		if err := write(&head, all.Append(nil, &head)); err != nil {
			return err
		}
	}
	return nil
}

// Decisions of calls, which share them.
var (
	toBoth = []journal.Decision{{Destination: "crm", Result: journal.Sent}, {Destination: "mail", Result: journal.Sent}}
	toOne  = []journal.Decision{{Destination: "crm", Result: journal.Sent}, {Destination: "mail", Result: journal.Filtered, Why: "All"}}
)

func (c *crowd) call(n int) *journal.Call {
	call := &journal.Call{Offset: int64(n / crowdPartitions), Fingerprint: c.print(n), Source: "web", Result: journal.Routed, Decisions: toBoth}
	switch {
	case isCopy(n):
		call.Result, call.Decisions = journal.Duplicate, nil
	case isFiltered(n):
		call.Decisions = toOne
	}
	return call
}

// attempts are those at both destinations, whose records stand at the offset of the call.
func (c *crowd) attempts(n int, call *journal.Call, add func(topic string, a *journal.Attempt)) {
	for _, d := range call.Decisions {
		if d.Result != journal.Sent {
			continue
		}
		topic := schemas.DeliverTopic(d.Destination)
		a := journal.Attempt{
			Offset: call.Offset, Fingerprint: call.Fingerprint, Destination: d.Destination, Source: call.Source,
			Outcome: journal.Delivered, Endpoints: 1, Number: 1, Took: 20 * time.Millisecond, At: c.began,
		}
		if d.Destination == "mail" && isDead(n) {
			a.Outcome, a.Reason = journal.Dead, schemas.ReasonStatus4xx
		}
		if d.Destination == "crm" && isRetried(n) {
			first := a
			first.Outcome, first.Reason, first.Topic, first.Until = journal.Retried, schemas.ReasonStatus5xx, retryTopic, c.began.Add(5*time.Second)
			add(topic, &first)
			topic, a.Number = retryTopic, 2
		}
		add(topic, &a)
	}
}

// into hands a ledger what is told of calls, and the dead letters there are.
func (c *crowd) into(tb testing.TB, l *ledger, from, to int) {
	tb.Helper()
	err := c.tell(from, to, func(head *journal.Head, value []byte) error {
		r, err := journal.Decode(head.Key(), value)
		if err != nil {
			return err
		}
		return l.record(r)
	})
	letters := l.names.of(schemas.TopicDeadLetters)
	for n := from; n < to && err == nil; n++ {
		if isDead(n) {
			err = l.bury(place{letters, uint16(n % crowdPartitions), int64(n)}, schemas.Position{}, c.print(n), "mail", time.Time{}, false)
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// ledger is one for so many calls of the crowd.
func (c *crowd) ledger(n int) *ledger {
	raw := make(map[int32]*calls)
	for num := range crowdPartitions {
		behind := int64((n - num + crowdPartitions - 1) / crowdPartitions)
		raw[int32(num)] = newCalls(ranges.Range{End: behind}, behind)
	}
	return newLedger(Selection{}, c.keyID, raw)
}

// close balances what was told, takes the calls, and checks what that comes to.
func (c *crowd) close(tb testing.TB, l *ledger, n int) {
	tb.Helper()
	if err := l.balance(); err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		l.call(int32(i%crowdPartitions), int64(i/crowdPartitions), c.began, nil)
	}
	rows, missing, doubts := l.result()
	if diff := cmp.Diff(c.rows(n), rows); diff != "" || len(missing)+len(doubts) > 0 {
		tb.Errorf("%d missing, not known: %v; rows (-want +got):\n%s", len(missing), doubts, diff)
	}
}
