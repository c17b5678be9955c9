package archive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/archive/internal/group"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/lag"
	"github.com/anabranch/anabranch/internal/waiting"
)

// session is one membership in the group.
type session struct {
	*Archive

	client *kgo.Client
	member *group.Member
	writer *kafka.Replaceable // of the journal; nil: none is written

	running context.Context //nolint:containedctx // ends when nothing new is to be begun,
	giveUp  context.CancelCauseFunc
	working context.Context //nolint:containedctx // and when what is under way is cut
	cut     context.CancelFunc
	workers sync.WaitGroup

	mu    sync.Mutex
	parts map[kafka.Partition]*part
	known map[string]bool // topics that are consumed
}

const (
	// tick is how often it is looked whether a range is old enough.
	tick = 250 * time.Millisecond

	// Records are measured and forgotten: what waits to be archived is in the log.
	fetchMaxBytes          = 4 << 20
	fetchMaxPartitionBytes = 1 << 20
	maxPoll                = 2_000

	// grace is how long an object under way may take when the stage stops, and leaveTime the
	// farewell to the group.
	grace     = 4 * time.Second
	leaveTime = time.Second
)

func newSession(ctx context.Context, a *Archive) (*session, error) {
	s := &session{Archive: a, parts: make(map[kafka.Partition]*part), known: make(map[string]bool)}
	s.running, s.giveUp = context.WithCancelCause(ctx)
	s.working, s.cut = context.WithCancel(context.WithoutCancel(ctx))
	var err error
	if s.client, err = kgo.NewClient(s.options()...); err != nil {
		return nil, fmt.Errorf("create the client of the archive: %w", err)
	}
	s.member = group.New(s.client, Group)
	if a.set.Journal {
		if s.writer, err = newWriter(a.set.Kafka); err != nil { //nolint:contextcheck // it outlives the session's end by its last records
			s.client.Close()
			return nil, err
		}
	}
	return s, nil
}

func (s *session) options() []kgo.Opt {
	return append(slices.Concat(s.set.Kafka, group.Join(Group)),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		// Without the markers of transactions it would not be known that nothing but a
		// marker is left of a partition.
		kgo.KeepControlRecords(),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxBytes(fetchMaxBytes),
		kgo.FetchMaxPartitionBytes(fetchMaxPartitionBytes),
		kgo.FetchMaxWait(tick),
		kgo.AdjustFetchOffsetsFn(s.begin),
		kgo.OnPartitionsRevoked(s.gone),
		kgo.OnPartitionsLost(s.gone),
	)
}

// run archives until ctx ends or the session is given up.
func (s *session) run(ctx context.Context) error {
	s.metrics.watch(s.backlog)
	var own sync.WaitGroup
	own.Go(s.follow)
	own.Go(s.watch)
	err := s.consume() //nolint:contextcheck // it works in the session's own, which end in two steps
	if err == nil && ctx.Err() == nil {
		err = context.Cause(s.running) //nolint:contextcheck // the session's own says why
	}
	s.giveUp(nil)
	own.Wait()
	s.stop(context.WithoutCancel(ctx))
	return err
}

// stop ends the session. A range that is cut is announced: whoever comes next writes it
// again.
func (s *session) stop(ctx context.Context) {
	timer := time.AfterFunc(grace, s.cut)
	s.workers.Wait()
	timer.Stop()
	s.cut()
	if s.writer != nil {
		s.writer.Close(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	if err := s.client.LeaveGroupContext(ctx); err != nil {
		s.log.Warn("could not tell the group about leaving, which will notice when the session ends", "error", err)
	}
	s.client.Close()
}

// follow consumes the topics of the workspace's archives, those of destinations that come
// later too.
func (s *session) follow() {
	again := waiting.First
	for {
		changed := s.set.Workspace.Changed()
		ws := s.set.Workspace.Load()
		s.metrics.follow(ws)
		timer := time.NewTimer(again)
		complete := s.consumeTopics(topicsOf(ws))
		if again = waiting.Next(again); complete {
			timer.Stop()
			again = waiting.First
		}
		select {
		case <-s.running.Done():
			timer.Stop()
			return
		case <-changed:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// consumeTopics consumes topics that were not before, as far as they can be had, and reports
// whether that is all.
func (s *session) consumeTopics(topics []string) bool {
	wanted := slices.DeleteFunc(topics, func(topic string) bool { return s.known[topic] })
	if len(wanted) == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(s.running, requestTime)
	defer cancel()
	refused, err := s.set.Topics.Create(ctx, wanted...)
	if err != nil {
		s.complain("", fmt.Errorf("look for topics: %w", err))
		return false
	}
	for _, topic := range wanted {
		if why := refused[topic]; why != nil {
			s.complain("", fmt.Errorf("topic %s, all others are consumed: %w", topic, why))
			continue
		}
		s.known[topic] = true
		s.client.AddConsumeTopics(topic)
	}
	return len(refused) == 0
}

// lookEvery is between two looks at whether partitions stand still.
const lookEvery = 10 * time.Second

// watch looks whether partitions get on: behind a transaction that nobody ends there is
// nothing to be read, and all looks well.
func (s *session) watch() {
	for waiting.Sleep(s.running, lookEvery) {
		names := make(map[string]bool)
		var all []lag.Position
		for _, p := range s.all() {
			names[p.Topic] = true
			all = append(all, p.position())
		}
		s.still.Look(all)
		if len(all) > 0 {
			s.lookAtEnds(slices.Collect(maps.Keys(names)))
		}
	}
}

func (s *session) lookAtEnds(topics []string) {
	ctx, cancel := context.WithTimeout(s.running, requestTime)
	defer cancel()
	lags, err := groups.Lags(ctx, s.set.Topics.Client, Group, topics...)
	ends, noEnds := s.set.Topics.Ends(ctx, topics...)
	s.still.Seen(lags, ends, errors.Join(err, noEnds), s.log)
}

// requestTime bounds a question to the brokers.
const requestTime = 5 * time.Second

// consume measures what is fetched, until the session ends (nil) or fetching has become
// pointless.
func (s *session) consume() error {
	for s.running.Err() == nil {
		ctx, cancel := context.WithTimeout(s.running, tick)
		fetches := s.client.PollRecords(ctx, maxPoll)
		cancel()
		if err := s.fetchError(fetches); err != nil {
			return err
		}
		fetches.EachPartition(s.take)
		for _, p := range s.all() {
			s.advance(p)
		}
	}
	return nil
}

func (s *session) take(fetched kgo.FetchTopicPartition) {
	if p := s.find(kafka.Partition{Topic: fetched.Topic, Num: fetched.Partition}); p != nil && len(fetched.Records) > 0 {
		p.take(&fetched.FetchPartition, s.limits(p), time.Now())
	}
}

// fetchError passes on what no retry mends.
func (s *session) fetchError(fetches kgo.Fetches) (fatal error) {
	fetches.EachError(func(topic string, num int32, err error) {
		switch {
		case s.running.Err() != nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		case kafka.DataLoss(err):
			s.truncated(kafka.Partition{Topic: topic, Num: num}, err)
			fatal = fmt.Errorf("fetch %s[%d]: %w", topic, num, err)
		case again(err), errors.Is(err, kgo.ErrClientClosed):
			fatal = fmt.Errorf("fetch %s[%d]: %w", topic, num, err)
		default:
			s.log.Warn("fetch failed, retrying", "topic", topic, "partition", num, "error", err)
		}
	})
	return fatal
}

func (s *session) find(at kafka.Partition) *part {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parts[at]
}

func (s *session) all() []*part {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*part, 0, len(s.parts))
	for _, p := range s.parts {
		all = append(all, p)
	}
	return all
}
