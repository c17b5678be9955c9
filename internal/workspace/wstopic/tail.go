package wstopic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/workspace/internal/wsrecord"
	"github.com/anabranch/anabranch/schemas"
)

const (
	partition = 0 // the topic's only one: its order is the order of changes

	// longPoll is how long a broker holds a fetch that finds nothing. New
	// records cut it short, so it costs no latency.
	longPoll = time.Second
)

// tail reads the topic from its start and knows when it has come to the end.
type tail struct {
	*wsrecord.Table
	topic string // workspace or regulations
	cl    *kgo.Client
	end   int64 // offset to reach; see start
	next  int64 // offset behind the last record seen
	open  bool  // the last record of the workspace belongs to a transaction whose end was not seen
	by    int64 // the producer of that transaction

	users func(key, value []byte) error // takes in a record about single users; nil: they are passed over
	stale bool                          // a record of the workspace itself came since this was reset
}

// aboutUsers tells whether a key of the topic `workspace` is one of a record for
// [Regulations], which earlier releases kept there.
func aboutUsers(key []byte) bool {
	return bytes.HasPrefix(key, []byte("regulation")) || bytes.HasPrefix(key, []byte("suppression/"))
}

// newTail opens a client for reading. The caller closes t.cl.
func newTail(opts []kgo.Opt, topic string) (*tail, error) {
	cl, err := ranges.Open(opts, longPoll)
	if err != nil {
		return nil, err
	}
	return &tail{Table: wsrecord.NewTable(), topic: topic, cl: cl}, nil
}

// start begins to read. The offset to reach is the last stable one, not the
// high watermark: in between lies a transaction that is still open, perhaps of
// a process that died, and what it says is not yet said.
func (t *tail) start(ctx context.Context) error {
	end, err := stableEnd(ctx, t.cl, t.topic)
	if err != nil {
		return err
	}
	t.end = end
	t.cl.AddConsumePartitions(map[string]map[int32]kgo.Offset{
		t.topic: {partition: kgo.NewOffset().AtStart()},
	})
	return nil
}

// stableEnd returns the offset behind the last record that belongs to no open
// transaction; 0 for a topic that never held one.
func stableEnd(ctx context.Context, cl *kgo.Client, topic string) (int64, error) {
	held, err := ranges.List(ctx, cl, topic, time.Time{})
	if err != nil {
		return 0, err
	}
	r, exists := held[partition]
	if !exists {
		return 0, fmt.Errorf("topic %s does not exist yet, the first workspace applied creates it: %w", topic, kerr.UnknownTopicOrPartition)
	}
	return r.End, nil
}

// poll waits for records and takes them in; observe is called for each with nil
// or with why it could not be read. The error is what the client could not do
// and goes on trying.
func (t *tail) poll(ctx context.Context, observe func(error)) error {
	wait := ctx
	if !t.settled() {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, longPoll)
		defer cancel()
	}
	fetches := t.cl.PollFetches(wait)
	if fetches.NumRecords() == 0 && !t.settled() && ctx.Err() == nil {
		t.skip(ctx)
	}
	fetches.EachRecord(func(r *kgo.Record) { t.take(r, observe) })
	return t.pollError(fetches)
}

func (t *tail) take(r *kgo.Record, observe func(error)) {
	t.next = r.Offset + 1
	switch {
	case r.Attrs.IsControl():
		// Earlier releases write regulations there in transactions of their own, which
		// may end in the midst of one of the workspace.
		t.open = t.open && r.ProducerID != t.by
	case t.topic != schemas.TopicRegulations && !aboutUsers(r.Key):
		t.open, t.by, t.stale = r.Attrs.IsTransactional(), r.ProducerID, true
		observe(t.Apply(r))
	case t.users != nil:
		observe(t.regulate(r))
	}
}

func (t *tail) regulate(r *kgo.Record) error {
	if err := t.users(r.Key, r.Value); err != nil {
		return fmt.Errorf("decode %s[%d]@%d: %w", r.Topic, r.Partition, r.Offset, err)
	}
	return nil
}

// pollError returns the first error of a poll that is not its own timeout.
func (t *tail) pollError(fetches kgo.Fetches) error {
	for _, e := range fetches.Errors() {
		if !errors.Is(e.Err, context.DeadlineExceeded) && !errors.Is(e.Err, context.Canceled) {
			return fmt.Errorf("fetch %s: %w", t.topic, e.Err)
		}
	}
	return nil
}

// settled tells whether the table is a state to act on: everything up to the end was
// seen, and all of the last transaction.
func (t *tail) settled() bool { return t.next >= t.end && !t.open }

// skip looks whether what is awaited will come at all. Offsets alone do not always
// tell, since compaction may have taken the last records, such as the marker of a
// transaction.
func (t *tail) skip(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*longPoll) // behind a fetch that a broker holds
	defer cancel()
	rest := ranges.Span{Topic: t.topic, Partition: partition, Next: t.next, End: max(t.end, t.next+1)}
	if err := rest.Skip(ctx, t.cl); err == nil && rest.Done() {
		t.next, t.open = max(t.next, t.end), false
	}
}
