// Package writes knows what becomes of the records that a transaction writes: how far
// they have come ([Writes]), which are too large for their topic ([Sizes]), and which
// topic keeps transactions from ending ([Strikes]).
package writes

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
)

// Writes are the records of one transaction on their way to the brokers. Their
// promises run on the client's goroutine, while the loop writes on or waits.
type Writes struct {
	session *kgo.GroupTransactSession
	stop    context.CancelFunc
	sizes   *Sizes
	begun   time.Time

	// Of the loop alone.
	held    map[string][]write // by topic: what must not share a batch with more
	spoiled bool               // something was refused: the transaction can't commit
	bytes   int                // that were written

	mu      sync.Mutex
	ended   error // what ended them before all were acknowledged
	topics  map[string]*progress
	open    int           // records that are not acknowledged yet
	idle    chan struct{} // closed when open falls to 0; nil while nobody waits
	failed  *Failure      // the first that is not about a size
	witness *kgo.Record   // one that was acknowledged; nil: none was
	refused map[partition][]write
	// leaderless are topics, with their partitions, that the brokers can't take
	// records for.
	leaderless map[string][]int32
}

// progress is how far the records of one topic have come, and on which partitions.
type progress struct {
	open, acked int
	last        int32 // partition of the last that was answered for
	partitions  map[int32]bool
}

// on notes the partition of a record that was answered for. Most follow another of theirs.
func (p *progress) on(partition int32) {
	if p.partitions == nil {
		p.partitions = make(map[int32]bool)
	} else if p.last == partition {
		return
	}
	p.last, p.partitions[partition] = partition, true
}

// write is a record on its way, and the one that it was made from.
type write struct{ from, out *kgo.Record }

// partition is one of a topic.
type partition struct {
	topic     string
	partition int32
}

// Failure is a write that failed.
type Failure struct {
	Topic string
	Err   error
}

// Begin returns the writes of a transaction and the context for them, which ends with
// the first that fails, or when all are given up. Stop releases it.
func Begin(ctx context.Context, s *kgo.GroupTransactSession, sizes *Sizes) (*Writes, context.Context) {
	ctx, stop := context.WithCancel(ctx)
	return &Writes{session: s, stop: stop, sizes: sizes, begun: time.Now(), held: make(map[string][]write), topics: make(map[string]*progress)}, ctx
}

// Stop releases what the writes hold, once they have ended.
func (w *Writes) Stop() { w.stop() }

// Begun is when the transaction was begun.
func (w *Writes) Begun() time.Time { return w.begun }

// Bytes is about how many bytes were written, before compression.
func (w *Writes) Bytes() int { return w.bytes }

// Write writes out, which was made from another record, or keeps it for [Writes.Release].
func (w *Writes) Write(ctx context.Context, from, out *kgo.Record) {
	w.bytes += sizeOf(out)
	next := write{from, out}
	if _, limited := w.sizes.limits.of(out.Topic, w.begun); limited {
		w.held[out.Topic] = append(w.held[out.Topic], next)
		return
	}
	w.send(ctx, next, false)
}

// Release writes what was kept for topics whose limit is known, one batch of each at a
// time: the client has one bound for all topics, so what shall not share a batch must
// not wait together.
func (w *Writes) Release(ctx context.Context) {
	for len(w.held) > 0 {
		now := time.Now()
		for topic, queue := range w.held {
			bytes, ok := w.sizes.limits.of(topic, now)
			if !ok {
				bytes = largestBatch // outlived while it was waited
			}
			n := portion(queue, bytes)
			for _, next := range queue[:n] {
				w.send(ctx, next, true)
			}
			if w.held[topic] = queue[n:]; n == len(queue) {
				delete(w.held, topic)
			}
		}
		if w.Wait(ctx) != nil {
			return
		}
		// The lesson is learned at once, and all of it in this one transaction, lost
		// though it is: with one for each refusal others' records would pay for all.
		w.Learn()
	}
}

// Learn draws the lesson of what was refused for its size since the last call.
func (w *Writes) Learn() {
	w.mu.Lock()
	refused := w.refused
	w.refused = nil
	w.mu.Unlock()
	w.spoiled = w.sizes.learn(refused) || w.spoiled
}

// Spoil has the transaction aborted.
func (w *Writes) Spoil() { w.spoiled = true }

// Spoiled reports whether a lesson was learned, or Spoil was called, so that the transaction can't commit.
func (w *Writes) Spoiled() bool { return w.spoiled }

// send writes a record. A failure ends the other writes, since the transaction can
// only be aborted; but one for its size does not while it is learned which sizes a
// topic takes.
func (w *Writes) send(ctx context.Context, next write, learning bool) {
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

// giveUp ends the writes because brokers take too long, or because of topics with
// partitions without a leader.
func (w *Writes) giveUp(cause error, leaderless map[string][]int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended == nil {
		w.leaderless = leaderless
	}
	w.end(cause)
}

// Over reports whether the writes have ended before all were acknowledged, or have
// come to nothing.
func (w *Writes) Over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended != nil || w.spoiled
}

func (w *Writes) end(cause error) {
	if w.ended == nil {
		w.ended = cause
	}
	w.stop()
}

func (w *Writes) begin(topic string) *progress {
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

func (w *Writes) note(done write, topic *progress, err error) {
	if done.out.Partition >= 0 { // else no broker was chosen yet
		topic.on(done.out.Partition)
	}
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
		w.failed = &Failure{done.out.Topic, err}
	}
	// What fails because all is given up stays open: nobody answered for it.
}

// Wait returns when brokers have answered for all that was written, or with what
// ended the writes.
func (w *Writes) Wait(ctx context.Context) error {
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

// Partitions are those that records were written to, or may have been.
func (w *Writes) Partitions() []kafka.Partition {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []kafka.Partition
	for topic, p := range w.topics {
		for num := range p.partitions {
			all = append(all, kafka.Partition{Topic: topic, Num: num})
		}
	}
	return all
}

// Witness is a record that was acknowledged; nil: none was.
func (w *Writes) Witness() *kgo.Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.witness
}

// waiting are the topics that brokers have not answered for yet.
func (w *Writes) waiting() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	topics := make(map[string]bool)
	for name, p := range w.topics {
		if p.open > 0 {
			topics[name] = true
		}
	}
	return topics
}

// standing is how far writes have come.
type standing struct {
	topics     map[string]progress
	ended      error
	failed     *Failure
	leaderless map[string][]int32
}

func (w *Writes) standing() standing {
	w.mu.Lock()
	defer w.mu.Unlock()
	topics := make(map[string]progress, len(w.topics))
	for name, p := range w.topics {
		topics[name] = *p
	}
	return standing{topics, w.ended, w.failed, w.leaderless}
}
