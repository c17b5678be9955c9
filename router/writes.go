package router

import (
	"cmp"
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
)

// writes are the records of one transaction on their way to the brokers. Their
// promises run on the client's goroutine, while the loop writes on or waits.
type writes struct {
	session *kgo.GroupTransactSession
	stop    context.CancelFunc

	mu      sync.Mutex
	ended   error // what ended them before all were acknowledged
	topics  map[string]*progress
	open    int           // records that are not acknowledged yet
	idle    chan struct{} // closed when open falls to 0; nil while nobody waits
	failed  *failure      // the first that is not about a size
	witness *kgo.Record   // one that was acknowledged; nil: none was
	refused map[partition][]write
	// leaderless are topics, with their partitions, that the brokers can't take
	// records for.
	leaderless map[string][]int32
}

// progress is how far the records of one topic have come.
type progress struct{ open, acked int }

// write is a record on its way, and the event that it was made from.
type write struct{ from, out *kgo.Record }

// partition is one of a topic.
type partition struct {
	topic     string
	partition int32
}

// failure is a write that failed.
type failure struct {
	topic string
	err   error
}

// newWrites returns writes and the context for them, which ends with the first that
// fails, or when all are given up.
func newWrites(ctx context.Context, s *kgo.GroupTransactSession) (*writes, context.Context) {
	ctx, stop := context.WithCancel(ctx)
	return &writes{session: s, stop: stop, topics: make(map[string]*progress)}, ctx
}

// send writes a record. A failure ends the other writes, since the transaction can
// only be aborted; but one for its size does not while it is learned which sizes a
// topic takes.
func (w *writes) send(ctx context.Context, next write, learning bool) {
	topic := w.begin(next.out.Topic)
	w.session.Produce(ctx, next.out, func(_ *kgo.Record, err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.note(next, topic, err)
		if err != nil && (!learning || !kafka.TooLarge(err)) {
			w.end(err) // before whoever waits is told
		}
		if w.open--; w.open == 0 && w.idle != nil {
			close(w.idle)
			w.idle = nil
		}
	})
}

// giveUp ends the writes.
func (w *writes) giveUp(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end(cause)
}

// over reports whether the writes have ended before all were acknowledged.
func (w *writes) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended != nil
}

func (w *writes) end(cause error) {
	if w.ended == nil {
		w.ended = cause
	}
	w.stop()
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
			w.refused = make(map[partition][]write)
		}
		at := partition{done.out.Topic, done.out.Partition}
		w.refused[at] = append(w.refused[at], done)
	case w.failed == nil && w.ended == nil:
		w.failed = &failure{done.out.Topic, err}
	}
	// What fails because all is given up stays open: nobody answered for it.
}

// wait returns when brokers have answered for all that was written, or with what
// ended the writes.
func (w *writes) wait(ctx context.Context) error {
	w.mu.Lock()
	idle := make(chan struct{})
	if w.open == 0 {
		close(idle)
	} else {
		w.idle = idle
	}
	w.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.ended, ctx.Err())
}

// takeRefused returns what was refused for its size since the last call, by where.
func (w *writes) takeRefused() map[partition][]write {
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
	w.end(errLeaderless)
}

// standing is how far writes have come.
type standing struct {
	topics     map[string]progress
	ended      error
	failed     *failure
	leaderless map[string][]int32
}

func (w *writes) standing() standing {
	w.mu.Lock()
	defer w.mu.Unlock()
	topics := make(map[string]progress, len(w.topics))
	for name, p := range w.topics {
		topics[name] = *p
	}
	return standing{topics, w.ended, w.failed, w.leaderless}
}
