package group

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

const (
	// SessionTimeout is for how long a killed sink's partitions rest, unless it comes
	// back before as the same static member.
	SessionTimeout = 8 * time.Second
	// rebalanceTimeout must outlast a revocation, which waits for attempts in flight.
	rebalanceTimeout = 15 * time.Second
	// HeartbeatInterval is how often the client asks whether it is a member.
	HeartbeatInterval = time.Second
)

// Join returns the options with which a client joins a group, as a static member if it
// has an instance id.
func Join(name, instanceID string) []kgo.Opt {
	opts := []kgo.Opt{
		kgo.ConsumerGroup(name),
		// Cooperative-sticky and no other: range would give all topics of one
		// partition to one member, and a second protocol doubles the group's
		// metadata, which has to fit into one record of the broker.
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.SessionTimeout(SessionTimeout),
		kgo.RebalanceTimeout(rebalanceTimeout),
		kgo.HeartbeatInterval(HeartbeatInterval),
		kgo.DisableAutoCommit(),
	}
	if instanceID != "" {
		opts = append(opts, kgo.InstanceID(instanceID))
	}
	return opts
}

// Options are what a Member is made of.
type Options struct {
	Client *kgo.Client
	Group  string
	// InstanceID is that of a static member; empty: an ordinary one. Returns has a
	// static member keep its place in the group when it stops.
	InstanceID string
	Returns    bool
	// Dispatcher knows how far each partition is finished.
	Dispatcher *dispatch.Dispatcher
	// Ends looks up where the partitions of topics end.
	Ends func(ctx context.Context, topics ...string) (map[string]map[int32]int64, error)
	// Every is how soon after something has finished it is committed.
	Every time.Duration
	// Count is told of each commit that was made, with nil, and of each that failed;
	// one that only came at a bad moment of a rebalance is neither.
	Count func(error)
	// Gone is told of topics that were deleted, or made anew, when a commit meets that.
	// Their partitions are not ours any more; only a new client takes up new ones.
	Gone   func(topic string, err error)
	Logger *slog.Logger
	// Journal writes down how what is finished ended; nothing is committed before it has.
	// Nil: there is none.
	Journal func(context.Context) error
	// Memory is the process's own, and outlives the membership. Nil: it has none.
	Memory *Memory
}

// Member is one membership in a group: what the client that joined it does not do
// by itself. It may be used by many goroutines.
type Member struct {
	Options

	committing sync.Mutex
	detail     detail // of the metadata of commits

	resuming sync.Mutex
	begins   map[partition.Place]kgo.EpochOffset // where reading begins, other than the group says
}

// New returns a Member.
func New(o Options) *Member {
	return &Member{Options: o, begins: make(map[partition.Place]kgo.EpochOffset)}
}

// identity is what the group knows us by.
type identity struct {
	id         string
	generation int32
}

func (m *Member) identity() identity {
	id, generation := m.Client.GroupMetadata()
	return identity{id, generation}
}

// Heartbeat asks the group whether we are a member; nil when we are. In the midst of a
// rebalance too the partitions of a member are its own until it has joined again.
func (m *Member) Heartbeat(ctx context.Context) error {
	by := m.identity()
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = m.Group, by.id, by.generation
	if m.InstanceID != "" {
		req.InstanceID = &m.InstanceID
	}
	resp, err := req.RequestWith(ctx, m.Client)
	if err != nil {
		return err
	}
	if err = kerr.ErrorForCode(resp.ErrorCode); errors.Is(err, kerr.RebalanceInProgress) {
		return nil
	}
	return err
}

// Leave leaves the group, within d, but for a static member that returns.
func (m *Member) Leave(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	by := m.identity() // the client forgets it as it leaves
	// The client waits for the end of a join that is under way, which may be the end of
	// another member's session: it gets half of the time.
	patient, impatient := context.WithTimeout(ctx, d/2)
	defer impatient()
	err := m.Client.LeaveGroupContext(patient)
	static := m.InstanceID != ""
	// For a static member the client never asks the group, and returns no error. One that
	// returns leaves its place as it is; one that does not would have the others wait for
	// the end of its session.
	left, stays := err == nil && !static, static && m.Returns
	if left || stays || by.id == "" {
		return
	}
	// By member id: the instance id may be a successor's by now.
	if err := kafka.Leave(ctx, m.Client, m.Group, by.id); err != nil {
		m.Logger.Warn("could not tell the group about leaving, which will notice when the session ends", "error", err)
	}
}
