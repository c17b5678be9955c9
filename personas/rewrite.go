package personas

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// leastLog is how many records of the changelog are not worth a round of rewriting, and
	// logPerUser how many there may be of a user: a round adds about as many as users at
	// most, so it writes a quarter more than there would be without.
	leastLog   = 10_000
	logPerUser = 4
	// turnRewritten is how many users are written again beside those who have changed.
	turnRewritten = 128
	trimTime      = 10 * time.Second
)

// rewrite writes users again who have not changed for long, as many as have changed, where
// nobody compacts the changelog. When all have been, nothing is needed of what stood there
// when the round began.
func (p *processor) rewrite(w *work) error {
	m := &w.meta
	if !p.set.Uncompacted {
		return nil
	}
	if m.Rewrite == nil {
		if w.Next-m.Needed < max(p.leastLog, logPerUser*m.Users) {
			return nil
		}
		m.Rewrite = &changelog.Rewrite{End: w.Next}
	}
	n, next, err := w.users.Rewrite(m.Rewrite.From, min(turnRewritten, 1+w.users.Touched()))
	if err != nil {
		return err
	}
	users := m.Rewrite.Users + int64(n)
	if next != nil {
		m.Rewrite = &changelog.Rewrite{From: next, End: m.Rewrite.End, Users: users}
		return nil
	}
	m.Needed, m.Users, m.Rewrite = m.Rewrite.End, users, nil
	return nil
}

// trimmer deletes from the changelog what is not needed any more.
type trimmer struct {
	log    *slog.Logger
	client *kgo.Client

	mu    sync.Mutex
	due   map[int32]int64 // offsets that are needed
	woken chan struct{}
}

func newTrimmer(set Settings) *trimmer {
	return &trimmer{log: set.Logger, client: set.Topics.Client, due: make(map[int32]int64), woken: make(chan struct{}, 1)}
}

// before has what stands before an offset deleted.
func (t *trimmer) before(num int32, offset int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due[num] = offset
	select {
	case t.woken <- struct{}{}:
	default:
	}
}

// run deletes until ctx ends. What fails is done with the next round.
func (t *trimmer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.woken:
		}
		if err := t.trim(ctx); err != nil && ctx.Err() == nil {
			t.log.Warn("records of personas-changelog that are not needed can't be deleted, they are with the next ones", "error", err)
		}
	}
}

func (t *trimmer) trim(ctx context.Context) error {
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic = schemas.TopicPersonasChangelog
	t.mu.Lock()
	for num, offset := range t.due {
		topic.Partitions = append(topic.Partitions, kmsg.DeleteRecordsRequestTopicPartition{Partition: num, Offset: offset})
	}
	clear(t.due)
	t.mu.Unlock()
	ctx, done := context.WithTimeout(ctx, trimTime)
	defer done()
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.TimeoutMillis = int32(trimTime.Milliseconds())
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, t.client)
	if err != nil {
		return fmt.Errorf("delete records: %w", err)
	}
	var failed []error
	for i := range response.Topics {
		for _, of := range response.Topics[i].Partitions {
			if err := kerr.ErrorForCode(of.ErrorCode); err != nil {
				failed = append(failed, fmt.Errorf("%s[%d]: %w", schemas.TopicPersonasChangelog, of.Partition, err))
			}
		}
	}
	return errors.Join(failed...)
}
