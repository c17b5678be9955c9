package webhooksink

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/config"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/ends"
	"github.com/anabranch/anabranch/webhook-sink/internal/group"
	"github.com/anabranch/anabranch/webhook-sink/internal/lease"
	"github.com/anabranch/anabranch/webhook-sink/internal/metrics"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
	"github.com/anabranch/anabranch/webhook-sink/internal/reread"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
	"github.com/anabranch/anabranch/webhook-sink/internal/subscription"
	"github.com/anabranch/anabranch/webhook-sink/internal/work"
)

// session is one membership in the group: the client, what it has fetched, and
// the goroutines that work on it.
type session struct {
	*Sink

	client     *kgo.Client
	producer   *work.Producer
	dispatcher *dispatch.Dispatcher
	member     *group.Member
	gate       group.Gate
	lease      *lease.Lease
	sub        *subscription.Subscription

	reassigned chan struct{} // partitions have come or gone since it was last received
	giveUp     context.CancelCauseFunc
	served     atomic.Bool // it has had partitions
	paused     []string    // destinations to which nothing is sent

	workers sync.WaitGroup
	// cut ends the context of the workers, which otherwise outlives the sink's.
	cut context.CancelFunc
	// end ends the client, whatever it is waiting for.
	end context.CancelFunc
}

func newSession(ctx context.Context, sink *Sink, sub *subscription.Subscription) (*session, error) {
	s := &session{Sink: sink, sub: sub, reassigned: make(chan struct{}, 1)}
	working, cut := context.WithCancel(context.WithoutCancel(ctx))
	s.cut = cut
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	s.end = end
	s.lease = lease.New(group.SessionTimeout, func(ctx context.Context) error { return s.member.Heartbeat(ctx) }, s.log)
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
	again := reread.New(reread.Options{
		Client: s.set.Topics.Client, Lost: s.metrics.AsideLost, Logger: s.log,
		Bring: func(r *dispatch.Reread, records []*kgo.Record, next int64) *dispatch.Reread {
			return s.dispatcher.Bring(r, records, next)
		},
	})
	s.dispatcher = dispatch.New(dispatch.Options{
		Limits:    quota.Limits{Each: s.cfg.MaxInFlight, Total: s.cfg.MaxInFlightTotal, First: config.FirstInFlight},
		Shortest:  s.cfg.RetryDelays[0],
		FetchWait: fetchWait(len(sub.Topics())),
		Flow:      flowOf(client),
		Gauges:    s.metrics.Gauges(),
		Start:     func(j *dispatch.Job) { s.workers.Go(func() { worker.Work(working, j) }) },
		Reread:    func(r *dispatch.Reread) { s.workers.Go(func() { again.Read(working, r) }) },
	})
	s.obey(s.set.Workspace.Load())
	s.member = group.New(group.Options{
		Client: client, Group: Group, InstanceID: s.set.InstanceID, Returns: s.set.Returns,
		Dispatcher: s.dispatcher, Every: s.commitEvery, Ends: s.set.Topics.Ends,
		Count: s.metrics.Committed, Gone: s.gone, Memory: &s.memory, Logger: s.log, Journal: s.writeJournal(),
	})
	s.metrics.Watch(metrics.Views{Progress: s.dispatcher.Progress, Breakers: s.attempter.Breakers, Standstill: s.standstills.Longest})
	return s, nil
}

func (s *session) newWorker() *work.Worker {
	var note func(*kgo.Record, schedule.Fate, outcome.Outcome)
	if s.journal != nil {
		note = s.journal.Note
	}
	return work.New(work.Options{
		Journal:   note,
		Schedule:  s.schedule,
		Workspace: s.set.Workspace.Load,
		Hold: func(ctx context.Context, j *dispatch.Job) bool { // lets a job start while the partitions are known to be ours
			return s.lease.Hold(ctx, func() bool { return s.dispatcher.Wants(j) })
		},
		Attempt:     s.attempt,
		Write:       s.producer.Write,
		Account:     s.metrics.Ended,
		WriteFailed: s.metrics.WriteFailed,
		Logger:      s.log,
		Trace:       s.set.Trace,
		Done:        func(j *dispatch.Job, o outcome.Outcome) *dispatch.Job { return s.dispatcher.Done(j, o) },
	})
}

// run consumes until ctx ends or fetching fails for good, then stops in order.
//
// The client is given its topics only here: it calls back as soon as it has some,
// and what the callbacks use is in place now.
func (s *session) run(ctx context.Context, changed <-chan struct{}) error {
	running, giveUp := context.WithCancelCause(ctx)
	s.giveUp = giveUp
	s.client.AddConsumeTopics(s.sub.Topics()...)
	look := ends.New(ends.Options{Topics: s.set.Topics, Group: Group, Dispatcher: s.dispatcher, Standstills: &s.standstills, Logger: s.log})
	var own sync.WaitGroup
	own.Go(func() { s.follow(running, changed) })
	own.Go(func() { s.member.CommitLoop(running) })
	own.Go(func() { look.Run(running) })
	if s.journal != nil {
		own.Go(func() { s.followPrints(running) })
	}
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

// leaveTime bounds the last commit, and then the farewell to the group: with grace and
// the longest timeout, a clean stop takes seven and a half seconds at most.
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
	own.Wait()
	timed, cancel := context.WithTimeout(ctx, leaveTime)
	s.member.CommitLast(timed, nil)
	cancel()
	s.producer.Close() //nolint:contextcheck // it waits for nothing
	s.member.Leave(ctx, leaveTime)
	s.end() // or Close would wait for a join
	s.client.Close()
	s.metrics.Watch(metrics.Views{Breakers: s.attempter.Breakers})
}

// within waits, and reports whether all channels were closed within d.
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
