package router

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
)

// writes are the records of one transaction on their way to the brokers. Their
// promises run on the client's goroutine, while the loop writes on or waits.
type writes struct {
	session *kgo.GroupTransactSession
	ctx     context.Context // of the writes: ends when one failed, or all are given up
	stop    context.CancelCauseFunc

	mu      sync.Mutex
	topics  map[string]*progress
	open    int           // records that are not acknowledged yet
	idle    chan struct{} // closed when open falls to 0; nil while nobody waits
	failed  *failure      // the first that is not about a size
	witness *kgo.Record   // one that was acknowledged; nil: none was
	refused map[place][]write
	// leaderless are topics, with their partitions, that the brokers can't take
	// records for.
	leaderless map[string][]int32
}

// progress is how far the records of one topic have come.
type progress struct{ open, acked int }

// write is a record on its way, and the event that it was made from.
type write struct{ from, out *kgo.Record }

// place is one partition.
type place struct {
	topic     string
	partition int32
}

// failure is a write that failed.
type failure struct {
	topic string
	err   error
}

func newWrites(ctx context.Context, s *kgo.GroupTransactSession) *writes {
	ctx, stop := context.WithCancelCause(ctx)
	return &writes{session: s, ctx: ctx, stop: stop, topics: make(map[string]*progress)}
}

// send writes a record. A failure ends the other writes, since the transaction can
// only be aborted; but one for its size does not while it is learned which sizes a
// topic takes.
func (w *writes) send(next write, learning bool) {
	topic := w.begin(next.out.Topic)
	w.session.Produce(w.ctx, next.out, func(_ *kgo.Record, err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.note(next, topic, err)
		if err != nil && (!learning || !kafka.TooLarge(err)) {
			w.stop(err) // before whoever waits is told
		}
		if w.open--; w.open == 0 && w.idle != nil {
			close(w.idle)
			w.idle = nil
		}
	})
}

func (w *writes) begin(topic string) *progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.topics[topic]
	if p == nil {
		p = new(progress)
		w.topics[topic] = p
	}
	p.open++
	w.open++
	return p
}

func (w *writes) note(done write, topic *progress, err error) {
	switch {
	case err == nil:
		w.witness = done.out
		topic.acked++
		topic.open--
	case kafka.TooLarge(err):
		topic.open--
		if w.refused == nil {
			w.refused = make(map[place][]write)
		}
		at := place{done.out.Topic, done.out.Partition}
		w.refused[at] = append(w.refused[at], done)
	case w.failed == nil && w.ctx.Err() == nil:
		w.failed = &failure{done.out.Topic, err}
	}
	// What fails because all is given up stays open: nobody answered for it.
}

// wait returns when brokers have answered for all that was written, or with what
// ended the writes.
func (w *writes) wait() error {
	w.mu.Lock()
	if w.open > 0 {
		idle := make(chan struct{})
		w.idle = idle
		w.mu.Unlock()
		select {
		case <-idle:
		case <-w.ctx.Done():
		}
	} else {
		w.mu.Unlock()
	}
	return context.Cause(w.ctx)
}

// takeRefused returns what was refused for its size since the last call, by where.
func (w *writes) takeRefused() map[place][]write {
	w.mu.Lock()
	defer w.mu.Unlock()
	refused := w.refused
	w.refused = nil
	return refused
}

// orphaned gives the writes up because of topics with partitions without a leader.
func (w *writes) orphaned(topics map[string][]int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaderless = topics
	w.stop(errLeaderless)
}

// standing returns how far each topic is, the first failure, and which topics lack
// leaders.
func (w *writes) standing() (topics map[string]progress, failed *failure, leaderless map[string][]int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	topics = make(map[string]progress, len(w.topics))
	for name, p := range w.topics {
		topics[name] = *p
	}
	return topics, w.failed, w.leaderless
}
