package messagetrace

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Log is where traces are read. It is used by one goroutine.
type Log struct {
	Topics *topics.Admin
	// Workspace is the one in force: sources, and the endpoints of destinations.
	Workspace *workspace.Snapshot
	// Router, Sink and Archive are the consumer groups whose commits say how far the stages are.
	Router, Sink, Archive string
	// Finished reads the metadata of a commit of the sink: which records are done with
	// beyond the committed offset. Nil: none is known to be.
	Finished func(committed int64, metadata string) func(*kgo.Record) bool
	// Users reads what is known of deletion requests and suppressed users; nil: nobody
	// wants to know.
	Users func(context.Context) (*regulation.Register, error)
	// Progress is told how far back has been searched; nil: nobody wants to know.
	Progress func(back time.Time, records int64)

	partitions map[string]int
}

// count is how many partitions a topic has; zero: there is none.
func (l *Log) count(ctx context.Context, topic string) (n int, err error) {
	if l.partitions == nil {
		if l.partitions, err = l.Topics.Counts(ctx); err != nil {
			return 0, err
		}
	}
	n, known := l.partitions[topic]
	if !known { // or it is hidden, which is an error only of a question that names it
		if n, err = l.Topics.Partitions(ctx, topic); err == nil {
			l.partitions[topic] = n
		}
	}
	return n, err
}

// home is the partition that the records of a key are on; false where there is no such
// topic.
func (l *Log) home(ctx context.Context, topic, key string) (int32, bool, error) {
	n, err := l.count(ctx, topic)
	if err != nil || n == 0 {
		return 0, false, err
	}
	rec := &kgo.Record{Key: []byte(key)}
	return int32(kgo.StickyKeyPartitioner(nil).ForTopic(topic).Partition(rec, n)), true, nil
}

// spans are what some partitions of a topic, nil: all of them, took in a time. A time in
// the future is that of the end.
func (l *Log) spans(ctx context.Context, topic string, nums []int32, w window) ([]*ranges.Span, error) {
	n, err := l.count(ctx, topic)
	if err != nil || n == 0 {
		return nil, err
	}
	held, err := ranges.List(ctx, l.Topics.Client, topic, w.From)
	if err != nil {
		return nil, err
	}
	ends := held
	if w.To.Before(time.Now()) {
		if ends, err = ranges.List(ctx, l.Topics.Client, topic, w.To); err != nil {
			return nil, err
		}
	}
	wanted := make(map[int32]ranges.Range, len(held))
	for num, r := range held {
		if nums == nil || slices.Contains(nums, num) {
			if w.To.Before(time.Now()) {
				r.End = min(r.End, ends[num].Start)
			}
			wanted[num] = r
		}
	}
	return ranges.Spans(topic, wanted), nil
}

// scan hands out the records of spans whose bytes hold one of some texts.
func (l *Log) scan(ctx context.Context, spans []*ranges.Span, each func(*kgo.Record) error, texts ...[]byte) error {
	return ranges.Scan(ctx, l.Topics.Client, spans, texts, each)
}

// beginning is when the first record was written that some partitions of a topic still
// have; zero: all that was ever written is there, or nothing is.
func (l *Log) beginning(ctx context.Context, topic string, nums []int32) (latest time.Time, err error) {
	held, err := ranges.List(ctx, l.Topics.Client, topic, time.Time{})
	if err != nil {
		return latest, err
	}
	for num, r := range held {
		if r.Start == 0 || r.Start == r.End || nums != nil && !slices.Contains(nums, num) {
			continue
		}
		first, err := ranges.Fetch(ctx, l.Topics.Client, topic, num, r.Start, 1)
		if err != nil {
			return latest, err
		}
		if len(first.Records) > 0 && first.Records[0].Timestamp.After(latest) {
			latest = first.Records[0].Timestamp.UTC()
		}
	}
	return latest, nil
}

// called are the names of the workspace in force.
type called struct {
	snapshot *workspace.Snapshot
	changes  map[string]time.Time // of destinations
}

func (c *called) topic(destination string) string {
	if d, known := c.snapshot.Destination(destination); known {
		return d.Topic()
	}
	return schemas.DeliverTopic(destination)
}

func (c *called) hosts(destination string) []string {
	d, known := c.snapshot.Destination(destination)
	if !known {
		return nil
	}
	all := make([]string, len(d.Endpoints))
	for i := range d.Endpoints {
		all[i] = fmt.Sprintf("endpoint %d", i+1)
		if u, err := url.Parse(d.Endpoints[i].SafeURL()); err == nil && u.Host != "" {
			all[i] = u.Host
		}
	}
	return all
}

func (c *called) changed(destination string, since time.Time) bool {
	return c.changes[destination].After(since)
}

// named looks up which destinations have changed since a time.
func (l *Log) named(ctx context.Context, since time.Time) (*called, error) {
	const kind = "destination/"
	spans, err := l.spans(ctx, schemas.TopicWorkspace, nil, window{since, time.Now()})
	if err != nil {
		return nil, err
	}
	c := &called{l.Workspace, make(map[string]time.Time)}
	err = l.scan(ctx, spans, func(r *kgo.Record) error {
		if id, ok := strings.CutPrefix(string(r.Key), kind); ok {
			c.changes[id] = latest(c.changes[id], r.Timestamp)
		}
		return nil
	}, []byte(kind))
	return c, err
}

// users is what is known of users, which is read while calls are searched.
func (l *Log) users(ctx context.Context) func() (*regulation.Register, error) {
	var register *regulation.Register
	var err error
	var reading sync.WaitGroup
	if l.Users != nil {
		reading.Go(func() { register, err = l.Users(ctx) })
	}
	return func() (*regulation.Register, error) {
		reading.Wait()
		return register, err
	}
}
