package wstopic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/workspace/internal/wsrecord"
	"github.com/anabranch/anabranch/schemas"
)

const (
	partition = 0 // the topic's only one: its order is the order of changes

	// longPoll is how long a broker holds a fetch that finds nothing. New
	// records cut it short, so it costs no latency.
	longPoll = time.Second

	fetchKey = 1 // of Fetch requests, in the Kafka protocol
)

// tail reads the topic from its start and knows when it has come to the end.
type tail struct {
	*wsrecord.Table
	cl   *kgo.Client
	idle *idleFetches
	end  int64 // offset to reach; see start
	next int64 // offset behind the last record seen
	open bool  // the last record of the workspace belongs to a transaction whose end was not seen
	by   int64 // the producer of that transaction

	users func(key, value []byte) error // takes in a record about single users; nil: they are passed over
	stale bool                          // a record of the workspace itself came since this was reset
}

// aboutUsers tells whether a key is one of a record for [Regulations].
func aboutUsers(key []byte) bool {
	return bytes.HasPrefix(key, []byte("regulation")) || bytes.HasPrefix(key, []byte("suppression/"))
}

// newTail opens a client for reading. The caller closes t.cl.
func newTail(opts []kgo.Opt) (*tail, error) {
	idle := new(idleFetches)
	cl, err := kgo.NewClient(slices.Concat(opts, []kgo.Opt{
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		// The last record of a transaction is its marker. Were markers left out,
		// the offset to reach would never be seen.
		kgo.KeepControlRecords(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(longPoll),
		kgo.WithHooks(idle),
	})...)
	if err != nil {
		return nil, fmt.Errorf("open a reader of %s: %w", schemas.TopicWorkspace, err)
	}
	return &tail{Table: wsrecord.NewTable(), cl: cl, idle: idle}, nil
}

// start begins to read. The offset to reach is the last stable one, not the
// high watermark: in between lies a transaction that is still open, perhaps of
// a process that died, and what it says is not yet said.
func (t *tail) start(ctx context.Context) error {
	end, err := stableEnd(ctx, t.cl)
	if err != nil {
		return err
	}
	t.end = end
	t.cl.AddConsumePartitions(map[string]map[int32]kgo.Offset{
		schemas.TopicWorkspace: {partition: kgo.NewOffset().AtStart()},
	})
	return nil
}

// stableEnd returns the offset behind the last record that belongs to no open
// transaction; 0 for a topic that never held one.
func stableEnd(ctx context.Context, cl *kgo.Client) (int64, error) {
	request := kmsg.NewPtrListOffsetsRequest()
	request.IsolationLevel = 1 // read committed
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic = schemas.TopicWorkspace
	which := kmsg.NewListOffsetsRequestTopicPartition()
	which.Partition, which.Timestamp = partition, -1 // the end
	topic.Partitions = append(topic.Partitions, which)
	request.Topics = append(request.Topics, topic)

	response, err := request.RequestWith(ctx, cl)
	if err != nil {
		return 0, unlisted(err)
	}
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 {
		return 0, unlisted(errors.New("the answer is about something else"))
	}
	answer := response.Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(answer.ErrorCode); err != nil {
		return 0, unlisted(err)
	}
	return answer.Offset, nil
}

func unlisted(err error) error {
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		return fmt.Errorf("topic %s does not exist yet, the first workspace applied creates it: %w", schemas.TopicWorkspace, err)
	}
	return fmt.Errorf("list the offsets of %s: %w", schemas.TopicWorkspace, err)
}

// poll waits for records and takes them in; observe is called for each with nil
// or with why it could not be read. The error is what the client could not do
// and goes on trying.
func (t *tail) poll(ctx context.Context, observe func(error)) error {
	// Cut short while something is awaited that may show in idle fetches.
	wait := ctx
	if !t.settled() {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, longPoll)
		defer cancel()
	}
	fetches := t.cl.PollFetches(wait)
	records := fetches.Records()
	for _, r := range records {
		t.take(r, observe)
	}
	if len(records) > 0 {
		t.idle.count.Store(0)
	}
	return pollError(fetches)
}

func (t *tail) take(r *kgo.Record, observe func(error)) {
	t.next = r.Offset + 1
	switch {
	case r.Attrs.IsControl():
		// Regulations are written in transactions of their own, which may end in the
		// midst of one of the workspace.
		t.open = t.open && r.ProducerID != t.by
	case !aboutUsers(r.Key):
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
func pollError(fetches kgo.Fetches) error {
	for _, e := range fetches.Errors() {
		if !errors.Is(e.Err, context.DeadlineExceeded) && !errors.Is(e.Err, context.Canceled) {
			return fmt.Errorf("fetch %s: %w", schemas.TopicWorkspace, e.Err)
		}
	}
	return nil
}

// replaced reports whether the log that was read is gone: its topic was deleted,
// whether or not there is another one by now, or the broker has lost its end. The
// client never adopts a topic with another id, and where brokers know no ids it goes
// to the end of the new one.
func replaced(err error) bool {
	_, lost := errors.AsType[*kgo.ErrDataLoss](err)
	return lost || errors.Is(err, kerr.UnknownTopicID)
}

// settled tells whether the table is a state to act on: everything up to the
// end was seen, and all of the last transaction. Offsets alone do not always
// tell, since compaction may have taken the last records, such as the marker of
// an aborted transaction. Then the broker holds fetches and finds nothing. It
// takes two of them: the first may have come late and brought records that are
// not polled yet, but the second was sent after those were.
func (t *tail) settled() bool {
	return t.next >= t.end && !t.open || t.idle.count.Load() >= 2
}

// idleFetches counts the fetches that a broker held for as long as it may, as
// it does when there is nothing to fetch. Errors it answers at once.
type idleFetches struct{ count atomic.Int64 }

// OnBrokerE2E implements [kgo.HookBrokerE2E].
func (f *idleFetches) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	if key == fetchKey && e2e.ReadErr == nil && e2e.WriteErr == nil && e2e.DurationE2E() >= longPoll*9/10 {
		f.count.Add(1)
	}
}
