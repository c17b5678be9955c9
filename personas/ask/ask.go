package ask

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
)

// patience is how long brokers may have nothing to say before a question is given up.
const patience = 10 * time.Second

// Log is where answers are read.
type Log struct {
	Kafka  []kgo.Opt // what every client of the process shares
	Topics *topics.Admin
	// Workspace has the definitions in force.
	Workspace Workspace
	// Progress is told, now and then, how many offsets of how many were read; nil: nobody
	// wants to know.
	Progress func(done, total int64)
	// Aside is how many bytes a preview or a check may put aside on disk, where TMPDIR says;
	// 0: as many as there are.
	Aside int64
}

// Unknown is the error about a name that there is not.
type Unknown struct {
	Kind, Name string // what was looked for
	Near       string // a name that is there and differs little; empty: none
}

// Error implements error.
func (u *Unknown) Error() string {
	text := fmt.Sprintf("there is no %s %q", u.Kind, u.Name)
	if u.Near != "" {
		text += fmt.Sprintf(": did you mean %q?", u.Near)
	}
	return text
}

// nearest keeps the name that differs least from another.
type nearest struct {
	name, near string
	least      int
}

func nearestTo(name string) *nearest {
	return &nearest{name: name, least: max(len(name)/3, 1) + 1}
}

func (n *nearest) try(other string) {
	if edits := terminal.Edits(n.name, other, n.least-1); edits < n.least || edits == n.least && n.near > other && n.near != "" {
		n.near, n.least = other, edits
	}
}

// place is how far the stage is with a partition.
type place struct {
	changelog.Meta

	// began is how far it was, and when, as the first record says that is still there and
	// is of the same fills.
	began, wrote time.Time
	first        int64 // offsets left then
}

// partitions returns how many partitions raw-events has.
func (l *Log) partitions(ctx context.Context) (int, error) {
	return l.Topics.Partitions(ctx, schemas.TopicRawEvents)
}

// home is the partition of a user.
func home(user string, partitions int) int32 {
	rec := &kgo.Record{Key: []byte(user)}
	return int32(kgo.StickyKeyPartitioner(nil).ForTopic(schemas.TopicRawEvents).Partition(rec, partitions))
}

// ranges are what some partitions of a topic hold; nil: all of them.
func (l *Log) ranges(ctx context.Context, topic string, nums []int32) (map[int32]ranges.Range, error) {
	return l.rangesSince(ctx, topic, nums, time.Time{})
}

func (l *Log) rangesSince(ctx context.Context, topic string, nums []int32, since time.Time) (map[int32]ranges.Range, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := ranges.List(ctx, l.Topics.Client, topic, since)
	if nums != nil {
		maps.DeleteFunc(found, func(num int32, _ ranges.Range) bool { return !slices.Contains(nums, num) })
	}
	return found, err
}

// read hands out the records of ranges of a topic, each partition in its order.
func (l *Log) read(ctx context.Context, topic string, of map[int32]ranges.Range, each func(*kgo.Record) error) error {
	spans := ranges.Spans(topic, of)
	total := int64(0)
	for _, s := range spans {
		total += s.Left()
	}
	n := 0
	return ranges.Read(ctx, l.Kafka, spans, ranges.Limits{Patience: patience}, func(_ *ranges.Span, rec *kgo.Record) error {
		if n++; l.Progress != nil && n%progressEvery == 0 {
			left := int64(0)
			for _, s := range spans {
				left += s.Left()
			}
			l.Progress(total-left, total)
		}
		return each(rec)
	})
}

const progressEvery = 1000

// state reads the changelog of some partitions, nil: of all. It hands out each record of
// a user, of which the last one counts, and returns how far each partition is.
func (l *Log) state(ctx context.Context, nums []int32, each func(num int32, user, record []byte) error) (map[int32]*place, error) {
	of, err := l.ranges(ctx, schemas.TopicPersonasChangelog, nums)
	if err != nil {
		return nil, err
	}
	places := make(map[int32]*place, len(of))
	for num := range of {
		places[num] = new(place)
	}
	err = l.read(ctx, schemas.TopicPersonasChangelog, of, func(rec *kgo.Record) error {
		if changelog.Reserved(string(rec.Key)) {
			return places[rec.Partition].follow(rec)
		}
		return each(rec.Partition, rec.Key, rec.Value)
	})
	return places, err
}

// follow takes in a later record of the partition.
func (p *place) follow(rec *kgo.Record) error {
	var m changelog.Meta
	if err := changelog.Decode(rec.Value, &m); err != nil {
		return err
	}
	if !sameFills(&m, &p.Meta) || p.began.IsZero() {
		p.began, p.first = rec.Timestamp, left(&m)
	}
	p.Meta, p.wrote = m, rec.Timestamp
	return nil
}

func sameFills(a, b *changelog.Meta) bool {
	return len(a.Fills) == len(b.Fills) && slices.EqualFunc(a.Fills, b.Fills, func(x, y changelog.Fill) bool {
		return x.Cut == y.Cut && x.Since == y.Since && (x.From < 0) == (y.From < 0)
	})
}

// left is how many offsets are to be read once more.
func left(m *changelog.Meta) (n int64) {
	for i := range m.Fills {
		n += m.Fills[i].Cut - max(m.Fills[i].Next, 0)
	}
	return n
}

// one is what is known of one user.
type one struct {
	id      string
	profile *engine.Profile
	now     time.Time // the clock of the user's partition
	home    int32
	ready   func(engine.LeafID) bool
	raw     int64 // offset of raw-events up to which it is known
}

// user looks for a user, and follows the way to the one whom they were merged into.
func (l *Log) user(ctx context.Context, c *engine.Catalogue, id string) (*one, error) {
	n, err := l.partitions(ctx)
	if err != nil {
		return nil, err
	}
	num := home(id, n)
	var record []byte
	places, err := l.state(ctx, []int32{num}, func(_ int32, user, value []byte) error {
		if string(user) == id {
			record = value
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if record == nil {
		return nil, l.unknownUser(ctx, id)
	}
	p, err := c.Decode(record)
	if err != nil {
		return nil, fmt.Errorf("user %q: %w", id, err)
	}
	at := places[num]
	return &one{id: id, profile: p, now: at.now(), home: num, ready: at.Ready, raw: at.Raw}, nil
}

// now is the clock of the partition: what holds, holds by it.
func (p *place) now() time.Time {
	if now := p.Clock(); !now.IsZero() {
		return now
	}
	return time.Now().UTC().Truncate(time.Millisecond)
}

func (l *Log) unknownUser(ctx context.Context, id string) error {
	near := nearestTo(id)
	_, err := l.state(ctx, nil, func(_ int32, user, _ []byte) error {
		near.try(string(user))
		return nil
	})
	return cmp.Or[error](err, &Unknown{"user", id, near.near})
}

// begins is when the first call was taken in that raw-events still has; zero: retention
// has deleted none.
func (l *Log) begins(ctx context.Context) (latest time.Time, err error) {
	of, err := l.ranges(ctx, schemas.TopicRawEvents, nil)
	if err != nil {
		return latest, err
	}
	for num, r := range of {
		if r.Start == 0 {
			continue
		}
		first, err := ranges.Fetch(ctx, l.Topics.Client, schemas.TopicRawEvents, num, r.Start, 1)
		switch {
		case err != nil:
			return latest, err
		case len(first.Records) == 0:
			latest = time.Now()
		case first.Records[0].Timestamp.After(latest):
			latest = first.Records[0].Timestamp
		}
	}
	return latest, nil
}
