package messagetrace

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

const (
	// pursueFirst is how much of the journal is read at first, and twice as much with each
	// step that has not told all.
	pursueFirst = 30 * time.Second
	// skew is how far the clocks of brokers and stages may be apart.
	skew = 10 * time.Second
	// around is how long after an end its dead letter may have been written, and after a
	// decision the record at its destination.
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
