package webhooksink

import (
	"context"
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/work"
)

const (
	// lookEvery is how often it is looked up where partitions end of which fetches do
	// not tell, and looksAll after how many times all are: fetches that fail tell
	// nothing, and look as if nothing came.
	lookEvery = 5 * time.Second
	looksAll  = 12
	// lookShare bounds the part of the time that looks take, those at thousands of
	// partitions too.
	lookShare = 20
	lookTime  = 5 * time.Second
)

// look keeps the backlog known of partitions that are not fetched, since they are
// paused, or have brought nothing since they are ours, until ctx ends. It runs
// beside all else, and nothing waits for it.
func (s *session) look(ctx context.Context) {
	for round, pause := 0, time.Second; work.Rest(ctx, pause); round++ {
		topics := s.dispatcher.Unwatched()
		if round%looksAll == looksAll-1 {
			topics = s.dispatcher.Topics()
		}
		began := time.Now()
		s.lookAt(ctx, topics)
		pause = max(lookEvery, lookShare*time.Since(began))
	}
}

func (s *session) lookAt(ctx context.Context, topics []string) {
	if len(topics) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	lags, err := s.set.Topics.Lag(ctx, Group, topics...)
	if err != nil {
		s.log.Debug("look at the ends of topics failed, their lag is that of the last one", "topics", len(topics), "error", err)
		return
	}
	for topic, partitions := range lags {
		for num, lag := range partitions {
			s.dispatcher.Look(dispatch.Place{Topic: topic, Num: num}, lag.Committed, lag.End)
		}
	}
}
