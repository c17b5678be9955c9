package group

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
)

// Member is one membership in a group: what the client that joined it does not do
// by itself. Its fields are set before it is used, and then it may be used by many
// goroutines.
type Member struct {
	Client *kgo.Client
	Group  string
	// InstanceID is that of a static member; empty: an ordinary one.
	InstanceID string
	// Dispatcher knows how far each partition is finished.
	Dispatcher *dispatch.Dispatcher
	// Every is how soon after something has finished it is committed.
	Every time.Duration
	// Count is told of each commit that was made, with nil, and of each that failed;
	// one that only came at a bad moment of a rebalance is neither.
	Count  func(error)
	Logger *slog.Logger

	committing sync.Mutex
	bare       bool // commits carry no metadata, since the brokers do not take as much
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

// Leave leaves the group, within d. A join under way would hold the client up until
// its end; then the group is told without the client's help, so that it does not
// wait for our session to end. A static member stays, as its like does.
func (m *Member) Leave(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	by := m.identity()
	patient, impatient := context.WithTimeout(ctx, d/2)
	defer impatient()
	if err := m.Client.LeaveGroupContext(patient); err == nil || m.InstanceID != "" {
		return
	}
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.MemberID = m.Group, by.id
	leaving := kmsg.NewLeaveGroupRequestMember()
	leaving.MemberID = by.id
	req.Members = append(req.Members, leaving)
	if _, err := req.RequestWith(ctx, m.Client); err != nil {
		m.Logger.Warn("left the group without its consent", "error", err)
	}
}
