package kafka

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
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
