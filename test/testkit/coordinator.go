package testkit

import (
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// RefuseCoordinator has the fake say n times that a group has no coordinator, as a
// cluster does that has never had a group. The result counts what is left of them.
func (c *Cluster) RefuseCoordinator(n int64) *atomic.Int64 {
	left := new(atomic.Int64)
	left.Store(n)
	c.Fake.ControlKey(kmsg.FindCoordinator.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		if left.Load() == 0 {
			return nil, nil, false
		}
		left.Add(-1)
		c.Fake.KeepControl()
		resp := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
		for _, key := range req.(*kmsg.FindCoordinatorRequest).CoordinatorKeys {
			none := kmsg.NewFindCoordinatorResponseCoordinator()
			none.Key, none.ErrorCode = key, kerr.CoordinatorNotAvailable.Code
			resp.Coordinators = append(resp.Coordinators, none)
		}
		return resp, nil, true
	})
	return left
}
