package webhooksink

import (
	"context"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
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
		began := time.Now()
		if s.watch(); round%looksAll == looksAll-1 {
			s.lookAtAll(ctx)
		} else if _, err := s.lookAt(ctx, s.dispatcher.Unwatched()); err != nil {
			s.log.Debug("look at the ends of topics failed, their lag is that of the last one", "error", err)
		}
		pause = max(lookEvery, lookShare*time.Since(began))
	}
}

func (s *session) lookAt(ctx context.Context, topics []string) (map[string]map[int32]kafka.Lag, error) {
	if len(topics) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	lags, err := s.set.Topics.Lag(ctx, Group, topics...)
	if err != nil {
		return nil, err
	}
	for topic, partitions := range lags {
		for num, lag := range partitions {
			s.dispatcher.Look(dispatch.Place{Topic: topic, Num: num}, lag.Committed, lag.End)
		}
	}
	return lags, nil
}

// lookAtAll also looks where logs end: those of partitions that bring nothing although
// they go on.
func (s *session) lookAtAll(ctx context.Context) {
	topics := s.dispatcher.Topics()
	lags, err := s.lookAt(ctx, topics)
	if err == nil {
		timed, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		var ends map[string]map[int32]int64
		if ends, err = s.set.Topics.Ends(timed, topics...); err == nil {
			for topic := range ends {
				s.stands.Ends(topic, lags[topic], ends[topic])
			}
			s.stands.Tell(s.log)
			return
		}
	}
	s.stands.Unseen()
	s.log.Debug("look at the ends of topics failed, their lag is that of the last one", "error", err)
}

// watch notes how far partitions were read, and which of them are held on purpose.
func (s *session) watch() {
	readings := s.dispatcher.Readings()
	positions := make([]kafka.Position, len(readings))
	for i, r := range readings {
		positions[i] = kafka.Position{Topic: r.Topic, Num: r.Num, Next: r.Next, Held: r.Held}
	}
	s.stands.Look(positions)
}
