package webhooksink

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/usual"
)

// session is one membership in the group: the client, what it has fetched, and
// the goroutines that work on it.
type session struct {
	*Sink

	client     *kgo.Client
	dispatcher *dispatch.Dispatcher
	gate       gate
	sub        *subscription

	reassigned chan struct{} // partitions have come or gone since it was last received

	workers sync.WaitGroup
	// cut ends the context of the workers, which otherwise outlives the sink's.
	cut context.CancelFunc
	// end ends the client, whatever it is waiting for.
	end context.CancelFunc

	committing sync.Mutex
	bare       bool // commits carry no metadata, since the brokers do not take as much
}

func newSession(ctx context.Context, sink *Sink, sub *subscription) (*session, error) {
	s := &session{Sink: sink, sub: sub, reassigned: make(chan struct{}, 1)}
	work, cut := context.WithCancel(context.WithoutCancel(ctx))
	s.cut = cut
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	s.end = end
	client, err := kgo.NewClient(append(s.options(), kgo.WithContext(life))...)
	if err != nil {
		cut()
		end()
		return nil, fmt.Errorf("create the webhook sink's client: %w", err)
	}
	s.client = client
	worker := s.newWorker()
	s.dispatcher = dispatch.New(dispatch.Options{
		Limits:    dispatch.Limits{Each: s.cfg.MaxInFlight, Total: s.cfg.MaxInFlightTotal, First: usual.FirstInFlight},
		Shortest:  s.cfg.RetryDelays[0],
		FetchWait: fetchMaxWait,
		Flow:      flowOf(client),
		Gauges:    dispatch.Gauges{InFlight: s.metrics.inFlight, Queued: s.metrics.queued, Due: s.metrics.due, Lateness: s.metrics.lateness},
		Start:     func(j *dispatch.Job) { s.workers.Go(func() { worker.Work(work, j) }) },
	})
	worker.Done = s.dispatcher.Done
	return s, nil
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
	ctx, cancel := context.WithCancel(ctx)
	s.client.AddConsumeTopics(slices.Sorted(maps.Keys(s.sub.consumed))...)
	var own sync.WaitGroup
	own.Go(func() { s.follow(ctx, changed) })
	own.Go(func() { s.commitLoop(ctx) })
	err := s.consume(ctx)
	cancel()
	s.stop(context.WithoutCancel(ctx), &own)
	return err
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
	own.Wait()
	timed, cancel := context.WithTimeout(ctx, leaveTime)
	s.commitLast(timed, nil)
	cancel()
	s.leave(ctx)
}

// leave leaves the group and closes the client. A join under way would hold up
// both until its end; then the group is told without the client's help, so that it
// does not wait for our session to end. A static member stays, as its like does.
func (s *session) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	by := s.member()
	patient, impatient := context.WithTimeout(ctx, leaveTime/2)
	defer impatient()
	if err := s.client.LeaveGroupContext(patient); err != nil && s.set.InstanceID == "" {
		req := kmsg.NewPtrLeaveGroupRequest()
		req.Group, req.MemberID = Group, by.id
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID = by.id
		req.Members = append(req.Members, m)
		if _, err := req.RequestWith(ctx, s.client); err != nil {
			s.log.Warn("left the group without its consent", "error", err)
		}
	}
	s.end() // or Close would wait for the join
	s.client.Close()
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
