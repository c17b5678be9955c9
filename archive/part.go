package archive

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/archive/internal/cut"
	"github.com/anabranch/anabranch/archive/internal/group"
	"github.com/anabranch/anabranch/archive/internal/object"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/lag"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/schemas"
)

// part is a partition that the session has been given.
type part struct {
	kafka.Partition

	topic       cut.TopicID
	destination string
	ctx         context.Context //nolint:containedctx // ends with the session, or when the partition goes
	cancel      context.CancelFunc

	mu       sync.Mutex
	way      *cut.Partition
	stable   int64 // up to where there was something to be read, when a fetch last told
	working  bool
	paused   bool
	noticed  time.Time // when something was known to wait whose age is not
	inherits bool      // the range that is written was announced by somebody before us
}

func (s *session) newPart(at kafka.Partition, topic cut.TopicID, mark cut.Mark) *part {
	p := &part{Partition: at, topic: topic, way: cut.Begin(mark), noticed: time.Now(), inherits: mark.Announced()}
	p.destination, _ = schemas.RoutedTo(at.Topic)
	p.ctx, p.cancel = context.WithCancel(s.working)
	return p
}

// take measures what was fetched.
func (p *part) take(fetched *kgo.FetchPartition, limits cut.Limits, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range fetched.Records {
		if !r.Attrs.IsControl() {
			p.way.Read(cut.Record{Offset: r.Offset, Bytes: object.LineBytes(r), Object: object.Dir(r), At: r.Timestamp}, &limits, now)
		}
	}
	p.stable = max(p.stable, fetched.LastStableOffset)
	p.way.Reach(fetched.Records[len(fetched.Records)-1].Offset+1, fetched.LastStableOffset)
}

// position is how far the partition was read. While a range of it is written nothing is.
func (p *part) position() lag.Position {
	p.mu.Lock()
	defer p.mu.Unlock()
	return lag.Position{Partition: p.Partition, Next: p.way.Next(), Held: p.working || p.paused}
}

// limits are those of a partition's destination. Of one that nobody knows any more they do
// not matter: nothing of it is stored.
func (s *session) limits(p *part) cut.Limits {
	if d, ok := s.set.Workspace.Load().Destination(p.destination); ok && d.Archive != nil {
		return limitsOf(d.Archive)
	}
	return cut.Limits{Bytes: 1 << 20, Age: time.Minute, Objects: 1}
}

// advance closes what is old enough, and has somebody work on what is closed. While somebody
// does, the partition is not read.
func (s *session) advance(p *part) {
	limits := s.limits(p)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.way.Tick(&limits, time.Now())
	if busy := p.way.Busy(); busy != p.paused {
		only := map[string][]int32{p.Topic: {p.Num}}
		if p.paused = busy; busy {
			s.client.PauseFetchPartitions(only)
		} else {
			s.client.ResumeFetchPartitions(only)
		}
	}
	if !p.working && p.way.Task().Step != cut.Rest {
		p.working = true
		s.workers.Go(func() { s.work(p) })
	}
}

// work takes a partition as far as it goes.
func (s *session) work(p *part) {
	for s.running.Err() == nil && p.ctx.Err() == nil {
		p.mu.Lock()
		task := p.way.Task()
		p.working = task.Step != cut.Rest
		p.mu.Unlock()
		if task.Step == cut.Rest || !s.do(p, task) {
			return
		}
		p.mu.Lock()
		p.way.Done(task)
		if task.Step == cut.Finish {
			p.inherits = false
		}
		p.mu.Unlock()
	}
}

// do does a task, and reports false when it is not to be done any more.
func (s *session) do(p *part, task cut.Task) bool {
	if task.Step == cut.Write {
		return s.archive(p, task.Mark)
	}
	return s.commit(p, task.Mark)
}

// commitAgain is the pause after a commit that was refused.
const commitAgain = 200 * time.Millisecond

// commit commits a mark. One of which nobody knows whether it was made ends the session:
// another one would be made behind it, and it might come after that.
func (s *session) commit(p *part, mark cut.Mark) bool {
	for {
		by := s.member.Identity()
		if p.ctx.Err() != nil {
			return false
		}
		err := s.member.Commit(p.ctx, by, p.Partition, p.topic, mark)
		switch {
		case err == nil:
			s.metrics.commits.WithLabelValues("ok").Inc()
			return true
		case p.ctx.Err() != nil:
			return false
		case errors.Is(err, group.ErrUnknown), errors.Is(err, group.ErrGone):
			s.giveUp(err)
			return false
		}
		s.metrics.commits.WithLabelValues("failed").Inc()
		s.complain(p.destination, fmt.Errorf("commit offsets of %s: %w", p.Partition, err))
		if !waiting.Sleep(s.running, commitAgain) {
			return false
		}
	}
}
