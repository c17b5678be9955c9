package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

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
