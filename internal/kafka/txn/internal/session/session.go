// Package session has the life of one client of a runner: what it is made with, under
// which transactional id, and how it leaves its group.
package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/fence"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/mark"
)

// Settings are what a session works with.
type Settings struct {
	// Balancer shares out the partitions among the members. Nil, of a runner:
	// cooperative-sticky, with which most stay where they are when members come and go.
	Balancer kgo.GroupBalancer
	// Options are those of the stage's sessions alone. They win over all others.
	Options []kgo.Opt
	// TransactionalID is one process's alone among all that run, and the same
	// again when that process comes back: its first act then ends what its
	// predecessor left open. On a broker that dies together with the process it is
	// new at each start.
	TransactionalID    string
	TransactionTimeout time.Duration
	// InstanceID makes the process a static member of its consumer group: its place is
	// kept while it is gone, for its session's eight seconds, and if it is back
	// within them nobody else has to notice. Empty: an ordinary member.
	InstanceID string
	// Returns says that the process comes back under its InstanceID after an orderly
	// stop too. False: it gives its partitions to the others when it stops, and its
	// place is kept for it only after a crash.
	Returns bool
}

const (
	rebalanceTimeout  = 12 * time.Second
	heartbeatInterval = time.Second
	// fetchWait is how long a fetch may wait at the broker for a first record.
	fetchWait = 500 * time.Millisecond
	// bufferedBytes bounds what waits for the brokers' acknowledgement.
	bufferedBytes = 32 << 20
	// leaveTimeout bounds the farewell to the group.
	leaveTimeout = 2 * time.Second
)

// Session reads topics as a member of a group, and writes in transactions.
type Session struct {
	*kgo.GroupTransactSession

	Pulse *fence.Pulse

	set   Settings
	input mark.Input
	id    string
}

// Open returns a session under a transactional id that has not yet spoken to a broker.
// The options say what is called when partitions come and go.
func Open(set Settings, input mark.Input, id string, callbacks ...kgo.Opt) (*Session, error) {
	s := &Session{Pulse: fence.NewPulse(time.Now()), set: set, input: input, id: id}
	var err error
	if s.GroupTransactSession, err = kgo.NewGroupTransactSession(slices.Concat(input.Kafka, s.options(), callbacks, set.Options)...); err != nil {
		return nil, fmt.Errorf("create a session: %w", err)
	}
	return s, nil
}

// ID is the session's transactional id.
func (s *Session) ID() string { return s.id }

func (s *Session) options() []kgo.Opt {
	opts := []kgo.Opt{
		kgo.ConsumerGroup(s.input.Group),
		kgo.ConsumeTopics(s.input.Sources...),
		kgo.TransactionalID(s.id),
		kgo.TransactionTimeout(s.set.TransactionTimeout),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		// Markers of transactions come with the records: only so is it known, and
		// committed, that nothing but a marker is left of a partition.
		kgo.KeepControlRecords(),
		kgo.Balancers(s.set.Balancer),
		kgo.SessionTimeout(fence.SessionTimeout),
		kgo.RebalanceTimeout(rebalanceTimeout),
		kgo.HeartbeatInterval(heartbeatInterval),
		kgo.FetchMaxWait(fetchWait),
		kgo.FetchMaxBytes(2 << 20),
		kgo.FetchMaxPartitionBytes(128 << 10),
		// The end of the transaction flushes: waiting for company would only add to
		// the latency.
		kgo.ProducerLinger(0),
		// What is written faster than the brokers take it waits in the loop: a record
		// that leads to many is held once, their batches are not.
		kgo.MaxBufferedBytes(bufferedBytes),
		kgo.ProducerBatchCompression(kgo.SnappyCompression(), kgo.NoCompression()),
		// Where partitions begin is ours to decide, once they are assigned: a position
		// that the log does not hold ends the session.
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.MaxVersions(mark.LastingVersions()),
		kgo.WithHooks(s.Pulse),
	}
	if s.set.InstanceID != "" {
		opts = append(opts, kgo.InstanceID(s.set.InstanceID))
	}
	return opts
}

// Close leaves the group and closes the client. Ordinary members leave as they close; a
// static one frees its place when ctx has ended, unless the process returns to it. Work
// bounds what is said to the brokers.
func (s *Session) Close(ctx, work context.Context) {
	if ctx.Err() != nil && s.set.InstanceID != "" && !s.set.Returns {
		s.leave(work)
	}
	kafka.Close(work, s.Client())
}

func (s *Session) leave(ctx context.Context) {
	ctx, done := context.WithTimeout(ctx, leaveTimeout)
	defer done()
	member, _ := s.Client().GroupMetadata()
	err := s.Client().LeaveGroupContext(ctx)
	if err == nil && member != "" {
		err = kafka.Leave(ctx, s.Client(), s.input.Group, member)
	}
	if err != nil {
		s.input.Log.Warn("left the group without its confirmation; it notices in a few seconds", "error", err)
	}
}
