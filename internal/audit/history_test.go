package audit

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// history is what became of some calls, as the stages tell it: made at random, with the
// report that it has to come to.
type history struct {
	*rand.Rand

	began   time.Time
	keyID   uint32
	calls   []*call
	offsets map[string]int64 // the next of each partition, by "topic[partition]"
	// print is the fingerprint of a call; dense says that no offset is left out.
	print func(source, id string) uint64
	dense bool
	// keep is handed the values of the journal's records; nil: nobody wants them.
	keep func(head *journal.Head, value []byte)
}

// call is one call on raw-events, and what became of it at each destination.
type call struct {
	partition   int32
	offset      int64
	source, id  string
	fingerprint uint64
	result      journal.CallResult
	decisions   []journal.Decision
	ways        []*way // one for each decision; nil for one that is filtered
	letter      bool   // of one that is dead as a whole
	unrouted    bool
	untold      bool      // the journal says nothing about it
	received    time.Time // when ingest took it, where its records say so
	twice       bool      // the journal tells of it twice
}

// way is what became of a call at a destination, from the router's decision or a redrive on.
type way struct {
	attempts []attempt
	waits    *stand
	letter   *stand
	again    *way // it was redriven
}

// stand is where a record stands.
type stand struct {
	topic     string
	partition int32
	offset    int64
}

type attempt struct {
	stand
	journal.Attempt
}

const (
	partitions   = 3
	noon         = 1_790_000_000
	retryTopic   = "webhook-retry.5s"
	destinations = 3
)

func newHistory(seed uint64, n int) *history {
	h := &history{Rand: rand.New(rand.NewPCG(seed, 1)), began: time.Unix(noon, 0).UTC(), keyID: 7, offsets: make(map[string]int64)}
	h.print = func(string, string) uint64 { return h.Uint64() }
	h.live(n)
	return h
}

func (h *history) live(n int) {
	for i := range n {
		h.add(i)
	}
}

func (h *history) at() time.Time { return h.began.Add(time.Duration(h.IntN(3600)) * time.Second) }

func (h *history) stand(topic string) stand {
	s := stand{topic: topic, partition: h.Int32N(partitions)}
	key := partOf(topic, s.partition)
	s.offset = h.offsets[key]
	h.offsets[key]++
	if !h.dense {
		h.offsets[key] += h.Int64N(2) // markers of transactions are between
	}
	return s
}

func (h *history) add(i int) {
	s := h.stand(schemas.TopicRawEvents)
	c := &call{partition: s.partition, offset: s.offset, source: fmt.Sprint("source-", h.IntN(2)), id: fmt.Sprint("m-", i)}
	c.fingerprint = h.print(c.source, c.id)
	h.calls = append(h.calls, c)
	switch p := h.IntN(20); {
	case p == 0:
		c.result = journal.Unconnected
	case p == 1 && i > 0:
		of := h.calls[h.IntN(i)]
		c.result, c.source, c.id, c.fingerprint = journal.Duplicate, of.source, of.id, of.fingerprint
	case p == 2:
		c.result, c.letter = journal.CallDead, true
	default:
		c.result = journal.Routed
		for d := range 1 + h.IntN(destinations) {
			h.decide(c, fmt.Sprint("d", d))
		}
	}
}

func (h *history) decide(c *call, destination string) {
	d := journal.Decision{Destination: destination, Result: journal.Sent}
	w := new(way)
	switch h.IntN(12) {
	case 0:
		d.Result, d.Why, w = journal.Filtered, "All", nil
	case 1:
		d.Result, d.Why = journal.DecisionDead, string(schemas.ReasonTopicUnavailable)
		h.end(c, destination, w)
	default:
		h.deliver(c, destination, w)
	}
	c.decisions, c.ways = append(c.decisions, d), append(c.ways, w)
}

// deliver goes a way from the destination's topic on.
func (h *history) deliver(c *call, destination string, w *way) {
	topic := schemas.DeliverTopic(destination)
	for number, withheld := 1, 0; ; {
		at := h.stand(topic)
		if h.IntN(12) == 0 {
			w.waits = &at
			return
		}
		a := journal.Attempt{
			Offset: at.offset, Fingerprint: c.fingerprint, Destination: destination, Source: c.source, At: h.at(),
			Number: number, Endpoints: 1, Took: time.Millisecond, Withheld: withheld,
		}
		a.Until, a.Topic, topic = a.At.Add(5*time.Second), retryTopic, retryTopic
		switch p := h.IntN(10); {
		case p < 6:
			a.Outcome = journal.Delivered
		case p < 8:
			a.Outcome, a.Reason = journal.Retried, schemas.ReasonStatus5xx
			number++
		case p < 9:
			a.Outcome, a.Number, a.Endpoints = journal.Withheld, number-1, 0
			withheld++
		default:
			a.Outcome, a.Reason = journal.Dead, schemas.ReasonStatus4xx
		}
		w.attempts = append(w.attempts, attempt{at, a})
		if h.IntN(30) == 0 && a.Outcome == journal.Withheld {
			w.attempts = append(w.attempts, attempt{at, a}) // a kill: it is told twice, and is no attempt
		}
		if !a.Outcome.Waits() {
			if a.Outcome == journal.Dead {
				h.end(c, destination, w)
			}
			return
		}
	}
}

// end goes on where something was given up.
func (h *history) end(c *call, destination string, w *way) {
	at := h.stand(schemas.TopicDeadLetters)
	w.letter = &at
	if h.IntN(3) == 0 {
		w.again = new(way)
		h.deliver(c, destination, w.again)
	}
}

// tell hands a ledger what the stages tell, in an order that they may tell it in.
func (h *history) tell(t *testing.T, l *ledger) {
	t.Helper()
	entries := h.entries()
	h.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	for _, tell := range entries {
		if err := tell(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.balance(); err != nil {
		t.Fatal(err)
	}
	for _, c := range h.calls {
		l.call(c.partition, c.offset, h.began, func() (string, string) { return c.source, c.id })
	}
}

func (h *history) entries() (entries []func(*ledger) error) {
	for num := range int32(partitions) {
		entries = append(entries, h.decisions(num)...)
	}
	byPartition := make(map[string][]attempt)
	for _, c := range h.calls {
		if c.letter {
			entries = append(entries, func(l *ledger) error {
				from := schemas.Position{Topic: schemas.TopicRawEvents, Partition: c.partition, Offset: c.offset}
				return l.bury(place{l.names.of(schemas.TopicDeadLetters), 1, 1 << 20}, from, 1, "", time.Time{}, false)
			})
		}
		for i, w := range c.ways {
			for ; w != nil; w = w.again {
				for _, a := range w.attempts {
					key := partOf(a.topic, a.partition)
					byPartition[key] = append(byPartition[key], a)
				}
				entries = append(entries, h.stands(c, w, c.decisions[i].Destination)...)
			}
		}
	}
	for _, all := range byPartition {
		for part := range slices.Chunk(all, 1+h.IntN(5)) {
			entries = append(entries, h.attempts(part))
		}
	}
	return entries
}

// stands are a way's dead letter, and what waits.
func (h *history) stands(c *call, w *way, destination string) (entries []func(*ledger) error) {
	if at := w.waits; at != nil {
		entries = append(entries, func(l *ledger) error {
			return l.wait(at.topic, at.partition, at.offset, c.fingerprint, destination)
		})
	}
	if at := w.letter; at != nil {
		again := time.Time{}
		if w.again != nil {
			again = h.began.Add(2 * time.Hour)
		}
		entries = append(entries, func(l *ledger) error {
			return l.bury(place{l.names.of(at.topic), uint16(at.partition), at.offset}, schemas.Position{}, c.fingerprint, destination, again, false)
		})
	}
	return entries
}

// decisions are the router's records about a partition.
func (h *history) decisions(num int32) (entries []func(*ledger) error) {
	var own []*call
	for _, c := range h.calls {
		if c.partition == num && !c.unrouted {
			own = append(own, c)
		}
	}
	from := int64(0)
	for part := range slices.Chunk(own, 1+h.IntN(20)) {
		head := journal.Head{Stage: "router", Topic: schemas.TopicRawEvents, Partition: num, From: from, Next: part[len(part)-1].offset + 1, KeyID: h.keyID, Base: h.began}
		from = head.Next
		var all journal.Calls
		for _, c := range part {
			if !c.untold {
				all.Add(c.entry())
			}
			if c.twice {
				var once journal.Calls
				once.Add(c.entry())
				entries = append(entries, h.decoded(&head, once.Append(nil, &head)))
			}
		}
		entries = append(entries, h.decoded(&head, all.Append(nil, &head)))
	}
	return entries
}

func (c *call) entry() *journal.Call {
	return &journal.Call{Offset: c.offset, Fingerprint: c.fingerprint, Source: c.source, Result: c.result, Decisions: c.decisions}
}

func (h *history) attempts(part []attempt) func(*ledger) error {
	var all journal.Attempts
	for i := range part {
		all.Add(&part[i].Attempt)
	}
	head := journal.Head{Stage: "webhook-sink", Topic: part[0].topic, Partition: part[0].partition, KeyID: h.keyID, Base: h.began}
	head.From, head.Next = all.Range()
	return h.decoded(&head, all.Append(nil, &head))
}

// decoded goes through the format, as all that an audit reads does.
func (h *history) decoded(head *journal.Head, value []byte) func(*ledger) error {
	key := head.Key()
	if h.keep != nil {
		h.keep(head, value)
	}
	return func(l *ledger) error {
		r, err := journal.Decode(key, value)
		if err != nil {
			return err
		}
		return l.record(r)
	}
}

// ledger is an empty one for the history.
func (h *history) ledger() *ledger {
	raw := make(map[int32]*calls)
	for num := range int32(partitions) {
		end := h.offsets[partOf(schemas.TopicRawEvents, num)]
		raw[num] = newCalls(ranges.Range{End: end}, end)
	}
	for _, c := range h.calls {
		if c.unrouted {
			raw[c.partition].routed = min(raw[c.partition].routed, c.offset)
		}
	}
	return newLedger(Selection{}, h.keyID, raw)
}

// want is the report that the history has to come to: the last word about each call, and no
// arithmetic.
func (h *history) want() (rows []Row, missing []Missing) {
	all := make(map[[2]string]*Row)
	row := func(source, destination string) *Row {
		key := [2]string{source, destination}
		if all[key] == nil {
			all[key] = &Row{Source: source, Destination: destination}
		}
		return all[key]
	}
	for _, c := range h.calls {
		whole := row(c.source, "")
		if n := c.whole(whole); n != nil {
			whole.Accepted++
			*n++
			if n == &whole.Missing {
				missing = append(missing, Missing{MessageID: c.id, Source: c.source})
			}
			continue
		}
		for i, w := range c.ways {
			r := row(c.source, c.decisions[i].Destination)
			r.Accepted++
			if outcome(r, w) == &r.Missing {
				missing = append(missing, Missing{MessageID: c.id, Source: c.source, Destination: r.Destination})
			}
			*outcome(r, w)++
			if c.twice && w != nil {
				r.Repeats++
			}
		}
	}
	for _, r := range all {
		if r.Accepted > 0 {
			rows = append(rows, *r)
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Destination, b.Destination))
	})
	return rows, missing
}

// whole is the last word about a call that has no destinations, or none yet; nil: it has.
func (c *call) whole(r *Row) *int64 {
	switch {
	case c.unrouted:
		return &r.Waiting
	case c.untold:
		return &r.Missing
	case c.result == journal.Unconnected:
		return &r.Unconnected
	case c.result == journal.Duplicate:
		return &r.Duplicate
	case c.result == journal.CallDead && c.letter:
		return &r.Dead
	case c.result == journal.CallDead:
		return &r.Missing
	}
	return nil
}

// outcome is the last word about a way.
func outcome(r *Row, w *way) *int64 {
	if w == nil {
		return &r.Filtered
	}
	for w.again != nil {
		w = w.again
	}
	n := len(w.attempts)
	switch {
	case w.waits != nil:
		return &r.Waiting
	case w.letter != nil:
		return &r.Dead
	case n > 0 && w.attempts[n-1].Outcome == journal.Delivered:
		return &r.Delivered
	}
	return &r.Missing
}
