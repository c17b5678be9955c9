package webhooksink

import "context"

// reshare tells the dispatcher which part of the group's retries is ours. A
// receiver that comes back gets its backlog from all members, which know nothing
// of one another; each holds itself to its part.
func (s *session) reshare(ctx context.Context) {
	total, err := s.set.Topics.Partitions(ctx, s.sub.Retries()...)
	if err != nil {
		s.log.Warn("count of the group's retry partitions failed, keeping the last one", "error", err)
		return
	}
	if ours := s.dispatcher.Retries(); total > 0 && ours > 0 {
		s.dispatcher.SetShare(min(float64(ours)/float64(total), 1))
	}
}
