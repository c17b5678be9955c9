package webhooksink

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/telemetry/seldom"
	"github.com/anabranch/anabranch/webhook-sink/internal/account"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/group"
	"github.com/anabranch/anabranch/webhook-sink/internal/producer"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
	"github.com/anabranch/anabranch/webhook-sink/internal/subscription"
	"github.com/anabranch/anabranch/webhook-sink/internal/usual"
	"github.com/anabranch/anabranch/webhook-sink/internal/work"
)

// session is one membership in the group: the client, what it has fetched, and
// the goroutines that work on it.
type session struct {
	*Sink

	client     *kgo.Client
	producer   *producer.Producer
	dispatcher *dispatch.Dispatcher
	member     *group.Member
	gate       group.Gate
	lease      *group.Lease
	sub        *subscription.Subscription

	rereading      chan struct{} // has an item for each part that is being read once more
	rereadFailures seldom.Log

	reassigned chan struct{} // partitions have come or gone since it was last received
	giveUp     context.CancelCauseFunc
	served     atomic.Bool // it has had partitions

	workers sync.WaitGroup
	// cut ends the context of the workers, which otherwise outlives the sink's.
	cut context.CancelFunc
	// end ends the client, whatever it is waiting for.
	end context.CancelFunc
}

func newSession(ctx context.Context, sink *Sink, sub *subscription.Subscription) (*session, error) {
	s := &session{Sink: sink, sub: sub, reassigned: make(chan struct{}, 1), rereading: make(chan struct{}, rereads)}
	working, cut := context.WithCancel(context.WithoutCancel(ctx))
	s.cut = cut
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	s.end = end
	s.lease = group.NewLease(sessionTimeout, func(ctx context.Context) error { return s.member.Heartbeat(ctx) }, s.log)
	client, err := kgo.NewClient(append(s.options(), kgo.WithContext(life), kgo.WithHooks(s.lease))...)
	if err != nil {
		cut()
		end()
		return nil, fmt.Errorf("create the webhook sink's client: %w", err)
	}
	s.client = client
	if s.producer, err = s.newProducer(); err != nil { //nolint:contextcheck // it outlives the stop, as workers do
		cut()
		end()
		client.Close()
		return nil, err
	}
	worker := s.newWorker()
	s.dispatcher = dispatch.New(dispatch.Options{
		Limits:    quota.Limits{Each: s.cfg.MaxInFlight, Total: s.cfg.MaxInFlightTotal, First: usual.FirstInFlight},
		Shortest:  s.cfg.RetryDelays[0],
		FetchWait: fetchWait(len(sub.Topics())),
		Flow:      flowOf(client),
		Gauges:    s.account.Gauges(),
		Start:     func(j *dispatch.Job) { s.workers.Go(func() { worker.Work(working, j) }) },
		Reread:    func(r *dispatch.Reread) { s.workers.Go(func() { s.reread(working, r) }) },
	})
	worker.Done = s.dispatcher.Done
	s.member = &group.Member{
		Client: client, Group: Group, InstanceID: s.set.InstanceID, Returns: s.set.Returns,
		Dispatcher: s.dispatcher, Every: s.commitEvery, Ends: s.set.Topics.Ends,
		Count: s.account.Committed, Gone: s.gone, Memory: &s.memory, Logger: s.log,
	}
	s.account.Watch(account.Views{Backlogs: s.dispatcher.Backlogs, Breakers: s.breakers, Stands: s.stands.Longest})
	return s, nil
}

// newWorker returns the worker of a session, which wants only its Done.
func (s *session) newWorker() *work.Worker {
	return &work.Worker{
		Schedule:    s.schedule,
		Workspace:   s.set.Workspace.Load,
		Hold:        s.hold,
		Attempt:     s.attempt,
		Write:       s.producer.Write,
		Account:     s.account.Ended,
		WriteFailed: s.account.WriteFailed,
		Logger:      s.log,
		Trace:       s.set.Trace,
	}
}

// hold lets a job start while the partitions are known to be ours.
func (s *session) hold(ctx context.Context, j *dispatch.Job) bool {
	return s.lease.Hold(ctx, func() bool { return s.dispatcher.Wants(j) })
}

func flowOf(client *kgo.Client) dispatch.Flow {
	only := func(at dispatch.Place) map[string][]int32 { return map[string][]int32{at.Topic: {at.Num}} }
	return dispatch.Flow{
		PauseTopic:      func(topic string) { client.PauseFetchTopics(topic) },
		ResumeTopic:     func(topic string) { client.ResumeFetchTopics(topic) },
		PausePartition:  func(at dispatch.Place) { client.PauseFetchPartitions(only(at)) },
		ResumePartition: func(at dispatch.Place) { client.ResumeFetchPartitions(only(at)) },
	}
}

// run consumes until ctx ends or fetching fails for good, then stops in order.
//
// The client is given its topics only here: it calls back as soon as it has some,
// and what the callbacks use is in place now.
func (s *session) run(ctx context.Context, changed <-chan struct{}) error {
	running, giveUp := context.WithCancelCause(ctx)
	s.giveUp = giveUp
	s.client.AddConsumeTopics(s.sub.Topics()...)
	var own sync.WaitGroup
	own.Go(func() { s.follow(running, changed) })
	own.Go(func() { s.member.CommitLoop(running) })
	own.Go(func() { s.look(running) })
	err := s.consume(running)
	if err == nil && ctx.Err() == nil {
		err = context.Cause(running)
	}
	giveUp(nil)
	s.stop(context.WithoutCancel(ctx), &own)
	return err
}

// gone ends the session on account of a topic that only a new client takes up.
func (s *session) gone(topic string, err error) {
	s.giveUp(fmt.Errorf("commit offsets of %s: %w", topic, err))
}

// leaveTime bounds the last commit, and then the farewell to the group: with grace
// and the longest timeout they make the seven and a half seconds that a clean stop
// may take.
const leaveTime = 700 * time.Millisecond

// stop ends the session. Attempts in flight may end in peace; those that outlast
// their time are cut, which finishes nothing: their records stay uncommitted and
// are met again. The session's own goroutines have been told to end.
func (s *session) stop(ctx context.Context, own *sync.WaitGroup) {
	if !within(s.cfg.Timeout+grace, s.dispatcher.Stop()) {
		s.log.Warn("stopped with attempts in flight, their events will be delivered again")
	}
	s.cut()
	s.workers.Wait()
	s.producer.Close() //nolint:contextcheck // it waits for nothing
	own.Wait()
	timed, cancel := context.WithTimeout(ctx, leaveTime)
	s.member.CommitLast(timed, nil)
	cancel()
	s.member.Leave(ctx, leaveTime)
	s.end() // or Close would wait for a join
	s.client.Close()
	s.account.Watch(account.Views{Breakers: s.breakers})
}

// within waits for all channels to be closed and reports whether that was within
// d.
func within(d time.Duration, all ...<-chan struct{}) bool {
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	for _, done := range all {
		select {
		case <-done:
		case <-deadline.C:
			return false
		}
	}
	return true
}
