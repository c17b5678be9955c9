package group

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/webhook-sink/internal/config"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/queues"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

const (
	topic     = "deliver.crm"
	groupName = "sinks"
)

// one is the partition that the tests are about.
func one() map[string][]int32 { return map[string][]int32{topic: {0}} }

// bench is a member whose attempts end when the test says so.
type bench struct {
	*Member

	t       *testing.T
	fake    *kfake.Cluster
	begun   []*dispatch.Job
	commits []error // as they were counted
	gone    []string
}

// newBench returns a member whose client has the options given.
func newBench(t *testing.T, opts ...kgo.Opt) *bench {
	t.Helper()
	cluster := testkit.Virtual(t, kfake.SeedTopics(1, topic))
	b := &bench{t: t, fake: cluster.Fake}
	gauge := func() prometheus.Gauge { return prometheus.NewGauge(prometheus.GaugeOpts{Name: "g", Help: "G."}) }
	nothing := func(partition.Place) {}
	b.Member = New(Options{
		Client: cluster.Client(t, opts...),
		Group:  groupName,
		Dispatcher: dispatch.New(dispatch.Options{
			Limits: quota.Limits{Each: 8, Total: 100},
			Flow:   dispatch.Flow{PauseTopic: func(string) {}, ResumeTopic: func(string) {}, PausePartition: nothing, ResumePartition: nothing},
			Gauges: dispatch.Gauges{Gauges: queues.Gauges{InFlight: gauge(), Queued: gauge(), Due: gauge()}, Lateness: prometheus.ObserverFunc(func(float64) {})},
			Start:  func(j *dispatch.Job) { b.begun = append(b.begun, j) },
		}),
		Every:  config.CommitEvery,
		Count:  func(err error) { b.commits = append(b.commits, err) },
		Ends:   func(context.Context, ...string) (map[string]map[int32]int64, error) { return nil, nil },
		Gone:   func(topic string, err error) { b.gone = append(b.gone, topic) },
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	return b
}

// take hands records at these offsets to the dispatcher, which starts all of them.
func (b *bench) take(offsets ...int64) {
	b.t.Helper()
	var jobs []*dispatch.Job
	for _, offset := range offsets {
		jobs = append(jobs, dispatch.NewJob(&kgo.Record{
			Topic: topic, Offset: offset, Key: []byte{byte(offset)}, Timestamp: time.Now(),
		}))
	}
	b.Dispatcher.Take(partition.Place{Topic: topic}, jobs)
	if got := len(b.begun); got != len(offsets) {
		b.t.Fatalf("%d jobs begun, want %d", got, len(offsets))
	}
}

// finish ends the jobs at these offsets.
func (b *bench) finish(offsets ...int64) {
	b.t.Helper()
	for _, offset := range offsets {
		for _, j := range b.begun {
			if j.Record.Offset == offset {
				b.Dispatcher.Done(j, outcome.Outcome{Verdict: outcome.Delivered})
			}
		}
	}
}

// committed is what the group holds, -1 for nothing.
func (b *bench) committed() int64 {
	if g := b.fake.GroupInfo(groupName); g != nil {
		if at, ok := g.Commits[topic][0]; ok {
			return at.Offset
		}
	}
	return -1
}

// TestWhatOvertookOthersIsKnownToTheNext: offset 2 is in flight while 3 and 5 have
// finished; who resumes at 2 need not deliver those again.
func TestWhatOvertookOthersIsKnownToTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.Dispatcher.Assign(one(), nil)
		b.take(1, 2, 3, 4, 5)
		b.finish(1, 3, 5)
		b.CommitLast(t.Context(), one())
		if got := b.committed(); got != 2 {
			t.Fatalf("committed %d, want 2", got)
		}
		done := b.FinishedBefore(t.Context(), one())[partition.Place{Topic: topic}]
		for offset, want := range map[int64]bool{2: false, 3: true, 4: false, 5: true, 6: false} {
			if got := done.Contains(offset, 0); got != want {
				t.Errorf("offset %d is finished: %t, want %t", offset, got, want)
			}
		}
	})
}

// TestACommitIsMadeOnce: what the group knows is not sent again.
func TestACommitIsMadeOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.Dispatcher.Assign(one(), nil)
		b.take(1)
		b.finish(1)
		for range 2 {
			if again := b.commit(t.Context(), nil); again != 0 {
				t.Errorf("commit again after %s, want success", again)
			}
		}
		if len(b.commits) != 1 || b.commits[0] != nil {
			t.Errorf("counted %v, want one that was made", b.commits)
		}
	})
}

// TestWhatACommitRunsInto: which answers are counted as failures, and how soon the
// commit is made again. What was not committed stays to be.
func TestWhatACommitRunsInto(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault  *kerr.Error
		again  time.Duration
		counts int
	}{
		{kerr.RebalanceInProgress, commitSoon, 0},
		{kerr.IllegalGeneration, commitSoon, 0},
		{kerr.GroupAuthorizationFailed, commitAgain, 1},
	} {
		t.Run(c.fault.Message, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.Dispatcher.Assign(one(), nil)
				b.take(1)
				b.finish(1)
				b.fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Group: groupName, Err: c.fault, Count: 1})
				if again := b.commit(t.Context(), nil); again != c.again {
					t.Errorf("commit again after %s, want %s", again, c.again)
				}
				if len(b.commits) != c.counts || c.counts > 0 && !errors.Is(b.commits[0], c.fault) {
					t.Errorf("counted %v, want %d failures", b.commits, c.counts)
				}
				if b.CommitLast(t.Context(), nil); b.committed() != 2 {
					t.Errorf("committed %d afterwards, want 2", b.committed())
				}
			})
		})
	}
}

// TestTheLoopTriesAgain: nothing else finishes that would wake it.
func TestTheLoopTriesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.Dispatcher.Assign(one(), nil)
		b.take(1)
		b.finish(1)
		fault := b.fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Group: groupName, Err: kerr.GroupAuthorizationFailed, Count: 2})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			b.CommitLoop(ctx)
		}()
		began := time.Now()
		testkit.Until(t, func() bool { return b.committed() == 2 }, "the commit to be made")
		if took := time.Since(began); fault.Hits() != 2 || took < 2*commitAgain {
			t.Errorf("committed after %s and %d failures, want two failures and a pause after each", took, fault.Hits())
		}
		cancel()
		<-ended
	})
}

// TestACommitThatWasOvertakenByALossIsNotSent: the watermarks were read, and
// before they could be sent the partition was lost and came back.
func TestACommitThatWasOvertakenByALossIsNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.Dispatcher.Assign(one(), nil)
		b.take(1)
		b.finish(1)
		stale := b.Dispatcher.Watermarks(nil)
		if len(stale) != 1 {
			t.Fatalf("%d watermarks, want one", len(stale))
		}
		b.Dispatcher.Forget(one())
		b.Dispatcher.Assign(one(), nil)
		if err := b.send(t.Context(), b.identity(), stale).err; !errors.Is(err, errLost) {
			t.Errorf("send = %v, expected the commit to be held back", err)
		}
		if got := b.committed(); got != -1 {
			t.Errorf("committed %d, expected nothing", got)
		}
	})
}

// TestLeaving: a member is gone at once, but for a static one that returns.
func TestLeaving(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		instance string
		returns  bool
		members  int
	}{"ordinary": {"", false, 0}, "static": {"sink-0", false, 0}, "static and back soon": {"sink-0", true, 1}, "ordinary, which no place is kept for": {"", true, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				joined := make(chan struct{})
				opts := []kgo.Opt{
					kgo.ConsumerGroup(groupName), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(),
					kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { close(joined) }),
				}
				if c.instance != "" {
					opts = append(opts, kgo.InstanceID(c.instance))
				}
				b := newBench(t, opts...)
				b.InstanceID, b.Returns = c.instance, c.returns
				<-joined
				b.Leave(t.Context(), time.Second)
				if got := len(b.fake.GroupInfo(groupName).Members); got != c.members {
					t.Errorf("%d members are left, want %d", got, c.members)
				}
			})
		})
	}
}
