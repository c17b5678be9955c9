package group

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

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
