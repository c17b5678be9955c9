package router

import (
	"context"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
	"github.com/anabranch/anabranch/internal/seen/copies"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
)

const (
	// A record of the journal has so many calls, or bytes, at most: transactions may be
	// large, and what a broker refuses for its size aborts them.
	mostCalls = 8192
	mostBytes = 128 << 10
)

// entries are what the transaction in the making adds to the journal: a record, as a rule,
// for each partition that it has read. They are the loop's, but for what is restored.
type entries struct {
	copies *copies.Copies // makes most of the fingerprints; nil: nobody does
	lost   prometheus.Counter
	log    func(msg string, args ...any)
	// topicID is that of raw-events, as the last partitions were restored with it.
	topicID atomic.Pointer[string]

	of     *string // what prints were made for
	prints *journal.Prints
	parts  map[int32]*entry
	last   *entry // that of the last call
	call   format.Call
}

// entry is of one partition.
type entry struct {
	calls format.Calls
	first *kgo.Record // nil: there is no call yet
	last  *kgo.Record
}

func newEntries(set Settings, c *copies.Copies) *entries {
	e := &entries{copies: c, log: set.Logger.Error, parts: make(map[int32]*entry)}
	e.lost = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "anabranch_router_journal_lost_total",
		Help: "Calls that were routed and are not in the journal, since the brokers refuse its record as too large.",
	})
	set.Registerer.MustRegister(e.lost)
	return e
}

// restore notes of which topic the partitions are that will be read.
func (e *entries) restore(at map[kafka.Partition]runner.Place) {
	for _, where := range at {
		e.topicID.Store(&where.Of)
	}
}

// note adds what was decided about a call.
func (e *entries) note(ctx context.Context, t *runner.Transaction, rec *kgo.Record, source string, all []decision) {
	p := e.part(rec.Partition)
	if p.first == nil {
		p.first = rec
	}
	p.last = rec
	e.call.Offset, e.call.Fingerprint, e.call.Source = rec.Offset, e.print(rec), source
	decided(&e.call, all)
	p.calls.Add(&e.call)
	if p.calls.Len() >= mostCalls || p.calls.Bytes() >= mostBytes {
		e.write(ctx, t, p, rec.Offset+1)
	}
}

func (e *entries) part(num int32) *entry {
	if e.last != nil && e.last.last != nil && e.last.last.Partition == num {
		return e.last
	}
	p := e.parts[num]
	if p == nil {
		p = new(entry)
		e.parts[num] = p
	}
	e.last = p
	return p
}

// print is the fingerprint of a call: the one that copies are told by, if there is one.
func (e *entries) print(rec *kgo.Record) uint64 {
	if e.copies != nil {
		if fp, ok := e.copies.Print(rec); ok {
			return fp
		}
	}
	return e.made().Of(rec)
}

// made are the fingerprints of the topic that is read now.
func (e *entries) made() *journal.Prints {
	if of := e.topicID.Load(); e.prints == nil || of != e.of {
		id := ""
		if of != nil {
			id = *of
		}
		e.of, e.prints = of, journal.PrintsOf(id)
	}
	return e.prints
}

// decided sets what a call's decisions say of it.
func decided(c *format.Call, all []decision) {
	c.Result, c.Reason, c.Decisions = format.Routed, "", c.Decisions[:0]
	for i := range all {
		switch d := &all[i]; {
		case d.destination == "":
			c.Result, c.Reason = whole(d.result), d.reason
		case d.result == routed:
			c.Decisions = append(c.Decisions, format.Decision{Destination: d.destination, Result: format.Sent, Why: d.exportedTo()})
		case d.result == filtered:
			c.Decisions = append(c.Decisions, format.Decision{Destination: d.destination, Result: format.Filtered, Why: d.why})
		default:
			c.Decisions = append(c.Decisions, format.Decision{Destination: d.destination, Result: format.DecisionDead, Why: string(d.reason)})
		}
	}
}

// exportedTo is the topic on which an event has arrived, once it is there.
func (d *decision) exportedTo() string {
	if d.export {
		return d.topic
	}
	return ""
}

// whole is the result of a call that no destination was asked about.
func whole(r result) format.CallResult {
	switch r {
	case duplicate:
		return format.Duplicate
	case unconnected:
		return format.Unconnected
	default:
		return format.CallDead
	}
}

// complete writes what is left, when the transaction takes no more records.
func (e *entries) complete(ctx context.Context, t *runner.Transaction) {
	next := t.Next()
	for num, p := range e.parts {
		if p.first != nil {
			e.write(ctx, t, p, next[kafka.Partition{Topic: schemas.TopicRawEvents, Num: num}])
		}
	}
}

func (e *entries) write(ctx context.Context, t *runner.Transaction, p *entry, next int64) {
	if t.Refused(schemas.TopicJournal, p.last) {
		// What is too large by itself would abort each transaction from here on.
		e.lost.Add(float64(p.calls.Len()))
		e.log("calls are missing in the journal: its record was refused as too large, raise max.message.bytes of the topic",
			"topic", schemas.TopicJournal, "partition", p.last.Partition, "from", p.first.Offset, "next", next)
	} else {
		head := format.Head{
			Stage: "router", Topic: schemas.TopicRawEvents, Partition: p.last.Partition,
			From: p.first.Offset, Next: next, KeyID: e.made().KeyID(), Base: t.Begun(),
		}
		t.Write(ctx, p.last, journal.Record(&head, p.calls.Append(nil, &head)))
	}
	p.clear()
}

func (p *entry) clear() {
	p.calls.Reset()
	p.first, p.last = nil, nil
}

// ended forgets what the transaction has said, or would have.
func (e *entries) ended() {
	for _, p := range e.parts {
		p.clear()
	}
}
