package messagetrace

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

const (
	// pursueFirst is how much of the journal is read at first, and twice as much with each
	// step that has not told all.
	pursueFirst = 30 * time.Second
	// skew is how far the clocks of brokers and stages may be apart.
	skew = 10 * time.Second
	// around is how long after an end its dead letter may have been written.
	around = time.Minute
)

// pursue finds out what became of calls, which are in the order of time.
func (s *search) pursue(ctx context.Context, all []*facts) ([]Call, error) {
	if len(all) == 0 {
		return nil, nil
	}
	of, err := s.named(ctx, all[0].since)
	if err != nil {
		return nil, err
	}
	groups := make(map[string][]*facts)
	var order []string
	for _, f := range all {
		one := string(s.print(f.call.Source, f.key))
		if groups[one] == nil {
			order = append(order, one)
		}
		groups[one] = append(groups[one], f)
	}
	for _, one := range order {
		c := &chase{search: s, names: of, calls: groups[one], print: []byte(one)}
		if err = c.run(ctx); err != nil {
			return nil, err
		}
	}
	calls := make([]Call, len(all))
	for i, f := range all {
		calls[i] = f.assemble(of)
	}
	return calls, nil
}

// chase follows calls that have one fingerprint through the journal, in the order in which
// it was written, from when they came to where nothing more can come.
type chase struct {
	*search

	names   names
	calls   []*facts
	print   []byte
	tries   []try
	letters []letter

	replayed []try              // attempts of replays, which are not among tries
	told     map[time.Time]bool // of which ends the dead letters were looked up
}

func (c *chase) run(ctx context.Context) error {
	c.told = make(map[time.Time]bool)
	if err := c.progress(ctx); err != nil {
		return err
	}
	for _, f := range c.calls {
		c.letters = append(c.letters, f.letters...)
	}
	if err := c.follow(ctx); err != nil {
		return err
	}
	if err := c.marks(ctx); err != nil {
		return err
	}
	if err := c.rest(ctx); err != nil {
		return err
	}
	return c.replays(ctx)
}

// progress asks whether the router is past the calls.
func (c *chase) progress(ctx context.Context) error {
	for _, f := range c.calls {
		num, there, err := c.home(ctx, schemas.TopicRawEvents, f.key)
		if err != nil || !there || f.offset < 0 {
			return err
		}
		commit, err := c.commit(ctx, c.Router, schemas.TopicRawEvents, num)
		if err != nil {
			return err
		}
		f.routed = commit > f.offset
	}
	return nil
}

// follow reads the journal until all is told that it has to tell.
func (c *chase) follow(ctx context.Context) error {
	partitions, err := c.journals(ctx)
	if err != nil || len(partitions) == 0 {
		return err
	}
	from, length := c.calls[0].since.Add(-skew), pursueFirst
	for {
		next, more := c.next(from)
		if !more || next.After(time.Now()) {
			return nil
		}
		w := window{next, next.Add(length)}
		spans, err := c.spans(ctx, schemas.TopicJournal, partitions, w)
		if err != nil {
			return err
		}
		if err = c.scan(ctx, spans, c.take, c.print); err != nil {
			return err
		}
		if err = c.visible(ctx); err != nil {
			return err
		}
		if err = c.bury(ctx); err != nil {
			return err
		}
		from, length = w.To, 2*length
	}
}

// visible is an error where the event waited on a topic that is hidden: what the journal
// tells of it might be missed.
func (c *chase) visible(ctx context.Context) error {
	for i := range c.tries {
		if c.tries[i].Outcome.Waits() {
			if _, err := c.count(ctx, c.tries[i].Topic); err != nil {
				return err
			}
		}
	}
	return nil
}

// next is where the journal goes on to tell, if it does.
func (c *chase) next(from time.Time) (at time.Time, more bool) {
	share(c.calls, c.tries)
	for _, f := range c.calls {
		if f.offset < 0 || !f.routed {
			continue
		}
		told := f.assemble(c.names)
		when, expects := told.expects(from.Add(skew))
		if f.routing == nil {
			when, expects = from.Add(skew), true
		}
		if expects && (!more || when.Before(at)) {
			at, more = when, true
		}
	}
	return latest(from, at.Add(-skew)), more
}

// journals are the partitions of the journal that tell of a key: those of the inputs that
// its records are on.
func (c *chase) journals(ctx context.Context) ([]int32, error) {
	n, err := c.count(ctx, schemas.TopicJournal)
	if err != nil || n == 0 {
		return nil, err
	}
	var nums []int32
	for topic := range c.partitions {
		tells := topic == schemas.TopicRawEvents || schemas.PrefixOf(topic) != ""
		num, there, err := c.home(ctx, topic, c.calls[0].key)
		if err != nil {
			return nil, err
		}
		if num %= int32(n); tells && there && !slices.Contains(nums, num) {
			nums = append(nums, num)
		}
	}
	return nums, nil
}

// take takes in what a record of the journal says of the calls.
func (c *chase) take(r *kgo.Record) error {
	said := read(r)
	wanted := binary.BigEndian.Uint64(c.print)
	for call := range said.Calls() {
		if call.Fingerprint != wanted {
			continue
		}
		for _, f := range c.calls {
			if f.offset == call.Offset && f.routing == nil {
				f.routing, f.routedAt = &call, r.Timestamp.UTC().Truncate(time.Millisecond)
			}
		}
	}
	for attempt := range said.Attempts() {
		into := &c.tries
		if attempt.Run != "" {
			into = &c.replayed
		}
		if t := (try{attempt, said.Topic, objectOf(said, &attempt)}); attempt.Fingerprint == wanted && !slices.Contains(*into, t) {
			*into = append(*into, t)
		}
	}
	return nil
}

// objectOf is the object of an archive that an entry of the journal is about, but for its day:
// an archive's record is about the range that was archived at once.
func objectOf(said *journal.Record, a *journal.Attempt) schemas.ArchivedName {
	if schemas.PrefixOf(said.Topic) != schemas.ArchivePrefix {
		return schemas.ArchivedName{}
	}
	return schemas.ArchivedName{Source: a.Source, Partition: said.Partition, From: said.From, To: said.Next}
}

// bury looks up the dead letters of ends that the journal has told of.
func (c *chase) bury(ctx context.Context) error {
	share(c.calls, c.tries)
	var ends []time.Time
	for i := range c.tries {
		if c.tries[i].Outcome == journal.Dead {
			ends = append(ends, c.tries[i].At)
		}
	}
	for _, f := range c.calls {
		if f.routing != nil && f.dies() {
			ends = append(ends, f.routedAt)
		}
	}
	for _, at := range ends {
		if c.told[at] {
			continue
		}
		c.told[at] = true
		if err := c.lettersOf(ctx, window{at.Add(-around), at.Add(around)}); err != nil {
			return err
		}
	}
	return c.marks(ctx)
}

// dies reports whether the router gave something of the call up.
func (f *facts) dies() bool {
	return f.routing.Result == journal.CallDead ||
		slices.ContainsFunc(f.routing.Decisions, func(d journal.Decision) bool { return d.Result == journal.DecisionDead })
}

// lettersOf takes in the dead letters of the calls that were written in a time.
func (c *chase) lettersOf(ctx context.Context, w window) error {
	num, there, err := c.home(ctx, schemas.TopicDeadLetters, c.calls[0].key)
	if err != nil || !there {
		return err
	}
	spans, err := c.spans(ctx, schemas.TopicDeadLetters, []int32{num}, w)
	if err != nil {
		return err
	}
	err = c.scan(ctx, spans, func(r *kgo.Record) error {
		h, _ := kafka.HeadersOf(r) // what could be read of them
		l := buried(r, &h)
		known := slices.ContainsFunc(c.letters, func(o letter) bool { return o.ID == l.ID })
		if h.MessageID == c.q.MessageID && h.Reason != schemas.ReasonPlanViolation && string(r.Key) == c.calls[0].key && !known {
			c.letters = append(c.letters, l)
		}
		return nil
	}, []byte(c.q.MessageID))
	c.assign()
	return err
}

// assign gives dead letters to calls: those of raw-events by the place that they came
// from, others to the call that was there before.
func (c *chase) assign() {
	for _, f := range c.calls {
		if f.offset >= 0 {
			f.letters = nil
		}
	}
	for _, l := range c.letters {
		if l.Reason == schemas.ReasonPlanViolation || l.run != "" {
			continue
		}
		var of *facts
		for _, f := range c.calls {
			if f.offset < 0 {
				continue
			}
			if own := l.from.Topic == schemas.TopicRawEvents && l.from.Offset == f.offset; own || of == nil || l.from.Topic != schemas.TopicRawEvents && f.died(&l) {
				of = f
			}
		}
		if of != nil {
			of.letters = append(of.letters, l)
		}
	}
}

// died reports whether an attempt of the call ended in a dead letter.
func (f *facts) died(l *letter) bool {
	return slices.ContainsFunc(f.tries, func(t try) bool {
		return t.Outcome == journal.Dead && t.from == l.from.Topic && t.Offset == l.from.Offset
	})
}

// marks looks up which of the dead letters were sent again, and when.
func (c *chase) marks(ctx context.Context) error {
	if len(c.letters) == 0 {
		return nil
	}
	texts := make([][]byte, len(c.letters))
	from := time.Now()
	for i := range c.letters {
		texts[i] = []byte(c.letters[i].ID)
		from = earliest(from, c.letters[i].At)
	}
	spans, err := c.spans(ctx, schemas.TopicRedriven, nil, window{from.Add(-skew), time.Now().Add(skew)})
	if err != nil {
		return err
	}
	err = c.scan(ctx, spans, func(r *kgo.Record) error {
		id, at, arrived, wrong := deadletters.ReadMark(r) // or from somebody else's hand
		for i := range c.letters {
			if l := &c.letters[i]; wrong == nil && l.ID == id.String() && (l.RedrivenAt == nil || l.RedrivenAt.Before(at)) {
				l.RedrivenAt, l.Arrived = &at, arrived
			}
		}
		return nil
	}, texts...)
	for _, f := range c.calls {
		for i := range f.letters {
			for _, l := range c.letters {
				if l.ID == f.letters[i].ID {
					f.letters[i] = l
				}
			}
		}
	}
	return err
}

// rest looks up what the journal does not tell.
func (c *chase) rest(ctx context.Context) error {
	share(c.calls, c.tries)
	for _, f := range c.calls {
		if f.routed && f.routing == nil && f.offset >= 0 {
			if err := c.lettersOf(ctx, window{f.since.Add(-skew), time.Now().Add(skew)}); err != nil {
				return err
			}
			if err := c.marks(ctx); err != nil {
				return err
			}
			continue
		}
		if f.routing == nil {
			continue
		}
		told := f.assemble(c.names)
		for i := range told.Destinations {
			if err := c.stands(ctx, f, &told.Destinations[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// stands looks up where the event is at a destination, as far as the journal leaves it open.
func (c *chase) stands(ctx context.Context, f *facts, d *Destination) error {
	switch {
	case d.WrittenTo != "":
		return c.arrived(ctx, f, d)
	case d.Outcome == Waiting && d.WaitingUntil == nil && d.ID != "" && d.redriven().IsZero():
		return c.reached(ctx, f, d.ID)
	}
	return nil
}

// arrived looks where the event stands on the topic that its destination reads. Whoever may
// not read that learns the name of the topic alone.
func (c *chase) arrived(ctx context.Context, f *facts, d *Destination) error {
	topic := d.WrittenTo
	num, there, err := c.home(ctx, topic, f.key)
	if err != nil || !there {
		return hiddenIsNone(err)
	}
	spans, err := c.spans(ctx, topic, []int32{num}, window{f.routedAt.Add(-skew), f.routedAt.Add(around)})
	if err != nil {
		return hiddenIsNone(err)
	}
	err = c.scan(ctx, spans, func(r *kgo.Record) error {
		if h, _ := kafka.HeadersOf(r); h.MessageID != c.q.MessageID || string(r.Key) != f.key {
			return nil
		}
		if f.written == nil {
			f.written = make(map[string]string)
		}
		f.written[d.ID] = schemas.Position{Topic: topic, Partition: num, Offset: r.Offset}.String()
		return nil
	}, []byte(c.q.MessageID))
	return hiddenIsNone(err)
}

func hiddenIsNone(err error) error {
	if errors.Is(err, kerr.TopicAuthorizationFailed) {
		return nil
	}
	return err
}

// reached looks whether the sink is past the event on a destination's topic.
func (c *chase) reached(ctx context.Context, f *facts, destination string) error {
	topic := c.names.topic(destination)
	num, there, err := c.home(ctx, topic, f.key)
	if err != nil || !there {
		return err
	}
	group := c.Sink
	archive := schemas.PrefixOf(topic) == schemas.ArchivePrefix
	if archive {
		group = c.Archive
	}
	commits, err := c.Topics.Commits(ctx, group, topic)
	if err != nil {
		return err
	}
	commit := commits[num]
	finished := func(r *kgo.Record) bool { return r.Offset < commit.Offset }
	if !archive && c.Finished != nil && commit.Metadata != "" {
		beyond := c.Finished(commit.Offset, commit.Metadata)
		finished = func(r *kgo.Record) bool { return r.Offset < commit.Offset || beyond(r) }
	}
	spans, err := c.spans(ctx, topic, []int32{num}, window{f.routedAt.Add(-skew), f.routedAt.Add(around)})
	if err != nil {
		return err
	}
	return c.scan(ctx, spans, func(r *kgo.Record) error {
		h, _ := kafka.HeadersOf(r)
		if h.MessageID == c.q.MessageID && finished(r) {
			if f.passed == nil {
				f.passed = make(map[string]bool)
			}
			f.passed[destination] = true
		}
		return nil
	}, []byte(c.q.MessageID))
}
