package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// leaveTimeout bounds the goodbye to the consumer group.
const leaveTimeout = 2 * time.Second

// Close leaves the client's group, should it be in one, and closes the client.
// The library's own Close asks the broker for its leave until it answers, which
// a broker that is gone never does; a member that leaves without a word is
// missed after its session timeout.
//
// It is called on the way out, when ctx has often ended already: what it takes
// from ctx is not its end.
func Close(ctx context.Context, cl *kgo.Client) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	_ = cl.LeaveGroupContext(ctx) // a failed goodbye changes nothing about the end
	cl.Close()
}

// Leave takes a member out of its group, so that the group need not wait for the
// end of its session. The library asks for that only on behalf of members without
// an instance id, and only between two joins. The member is named by its id, a
// static one too: its instance id may be a successor's by now, which would be thrown
// out. A member that the group does not know has left.
//
// The client must have ended its membership before (LeaveGroupContext), or it
// joins again.
func Leave(ctx context.Context, cl *kgo.Client, group, memberID string) error {
	leaving := kmsg.NewLeaveGroupRequestMember()
	leaving.MemberID = memberID
	leaving.Reason = new("stopped for good")
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.MemberID = group, memberID // the latter for brokers that know one member a request
	req.Members = append(req.Members, leaving)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return fmt.Errorf("leave group %s: %w", group, err)
	}
	codes := []int16{resp.ErrorCode}
	for i := range resp.Members {
		codes = append(codes, resp.Members[i].ErrorCode)
	}
	for _, code := range codes {
		if err := kerr.ErrorForCode(code); err != nil && !errors.Is(err, kerr.UnknownMemberID) {
			return fmt.Errorf("leave group %s: %w", group, err)
		}
	}
	return nil
}
