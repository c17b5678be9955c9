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
)

// Member is one membership in a group: what the client that joined it does not do
// by itself. Its fields are set before it is used, and then it may be used by many
// goroutines.
type Member struct {
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
	// Memory is the process's own, and outlives the membership. Nil: it has none.
	Memory *Memory

	committing sync.Mutex
	detail     detail // of the metadata of commits

	resuming sync.Mutex
	anew     map[dispatch.Place]bool // partitions to be read from their start, whatever is committed
	// beyond is where to read partitions of which the brokers have lost commits.
	beyond map[dispatch.Place]kgo.EpochOffset
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

// Leave leaves the group, within d, but for a static member that returns. Two kinds
// of members leave without the client's help, so that the group does not wait for
// the end of their session: one in the midst of a join, whose end the client would
// wait for, and a static one, for which it never asks.
func (m *Member) Leave(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	by := m.identity()
	patient, impatient := context.WithTimeout(ctx, d/2)
	defer impatient()
	err := m.Client.LeaveGroupContext(patient)
	left, stays := err == nil && m.InstanceID == "", m.InstanceID != "" && m.Returns
	if left || stays || by.id == "" {
		return
	}
	if err := kafka.Leave(ctx, m.Client, m.Group, by.id); err != nil {
		m.Logger.Warn("left the group without its consent", "error", err)
	}
}
