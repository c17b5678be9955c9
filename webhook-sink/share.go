package webhooksink

import (
	"context"

	"github.com/anabranch/anabranch/schemas"
)

// reshare tells the dispatcher which part of the group's retries is ours. A
// receiver that comes back gets its backlog from all members, which know nothing
// of one another; each holds itself to its part.
func (s *session) reshare(ctx context.Context) {
	var topics []string
	for topic := range s.sub.consumed {
		if _, retry := schemas.RetryDelayOf(topic); retry {
			topics = append(topics, topic)
		}
	}
	total, err := s.set.Topics.Partitions(ctx, topics...)
	if err != nil {
		s.log.Warn("count of the group's retry partitions failed, keeping the last one", "error", err)
		return
	}
	if ours := s.dispatcher.Retries(); total > 0 && ours > 0 {
		s.dispatcher.SetShare(min(float64(ours)/float64(total), 1))
	}
}
