package webhooksink

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// grace is what an attempt's end may take beyond the attempt's timeout: the rest
// of a response's body, and the write of its retry record.
const grace = time.Second

// assigned is called before anything of the new partitions is fetched.
//
// The gate is passed here too: after a lost session the client calls lost before
// it stops fetching, so a poll may still have returned records of the old
// assignment. They have to be refused while the partition is nobody's.
func (s *session) assigned(ctx context.Context, _ *kgo.Client, added map[string][]int32) {
	s.lease.Begin()
	s.gate.Pass()
	s.dispatcher.Assign(added, s.member.FinishedBefore(ctx, added))
	s.joined.Store(true)
	s.served.Store(true)
	s.tellReassigned()
}

// begin is called with the group's offsets of new partitions, after assigned, and
// corrects them. The client has room for one such function.
func (s *session) begin(ctx context.Context, all map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	all, err := s.member.Begin(ctx, all)
	if err != nil {
		return nil, err
	}
	s.losses.Begin(all) // keys set aside have a look of their own at what was deleted
	return all, nil
}

// revoked gives partitions back in good order: nothing of them starts any more,
// what is in flight ends, and what is finished is committed. Only when it returns
// does the group give them to another member, so nobody delivers the same events
// at the same time, and none twice. Attempts on other partitions, and fetching
// them, go on meanwhile.
//
// An attempt can't take longer than its timeout. Should writing its retry record
// (a broker in trouble), the event is left to the next member: its late
// completion finds the partition gone and commits nothing.
func (s *session) revoked(ctx context.Context, _ *kgo.Client, gone map[string][]int32) {
	if len(gone) == 0 {
		return // the end of a session in which we lost nothing
	}
	s.gate.Pass()
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout+2*grace)
	defer cancel()
	if !within(s.cfg.Timeout+grace, s.dispatcher.Release(gone)...) {
		s.log.Warn("partitions given back with attempts in flight, their events will be delivered again")
	}
	s.member.CommitLast(ctx, gone)
	s.dispatcher.Forget(gone)
	s.tellReassigned()
}

// lost is called when the group has already given our partitions to others (our
// session ended without us): to commit now could take back what they committed.
func (s *session) lost(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	s.gate.Pass()
	s.joined.Store(false)
	s.dispatcher.Forget(gone)
}

func (s *session) tellReassigned() {
	select {
	case s.reassigned <- struct{}{}:
	default: // said already, and not heard yet
	}
}
