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
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/waiting"
)

const (
	// Pauses after failures double, up to the longest: a store that is back is noticed
	// within that time.
	firstPause   = time.Second
	longestPause = 30 * time.Second

	// patience is how long brokers may have nothing to say of a range that is there.
	patience = 30 * time.Second
)

// archive stores the objects of a range, however often it takes, and reports false when the
// partition is gone or the stage stops.
func (s *session) archive(p *part, mark cut.Mark) bool {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := s.attempt(p, mark)
		if err == nil || p.ctx.Err() != nil {
			return err == nil
		}
		if errors.Is(err, group.ErrGone) {
			s.giveUp(err)
			return false
		}
		s.metrics.of(p.destination).failed.Inc()
		s.complain(p.destination, fmt.Errorf("%s, offsets %d to %d: %w", p.Partition, mark.From, mark.To, err))
		if !waiting.Sleep(s.running, pause) {
			return false
		}
	}
}

// attempt reads a range once more and stores what it holds. Of each destination one range is
// in memory at a time.
func (s *session) attempt(p *part, mark cut.Mark) error {
	done, ok := s.slots.take(s.running, p.destination)
	if !ok {
		return context.Cause(s.running)
	}
	defer done()
	ctx, cancel := context.WithTimeout(p.ctx, s.cfg.Timeout)
	at, err := s.places.open(ctx, s.set.Workspace.Load(), p.destination, p.topic)
	cancel()
	if err != nil {
		return err
	}
	r, err := s.read(p, mark)
	if err != nil {
		return err
	}
	for i := range r.objects {
		if err = s.put(p, at, &r.objects[i], r.deleted > 0); err != nil {
			return fmt.Errorf("store %s in %s: %w", r.objects[i].Name, at.at, err)
		}
	}
	if r.deleted > 0 {
		s.tellLost(p, r.deleted)
	}
	return s.write(p.ctx, r.entries)
}

// content is what a range comes to.
type content struct {
	objects []object.Object
	deleted int64 // offsets of it that are not in the log any more
	entries *entries
}

// read reads a range from the log. What another topic holds there, under the same name, is
// none of it.
func (s *session) read(p *part, mark cut.Mark) (*content, error) {
	span := &ranges.Span{Topic: p.Topic, Partition: p.Num, Next: mark.From, End: mark.To}
	build := object.New(p.Num, mark.From, mark.To)
	noted, err := s.entriesOf(p, mark)
	if err != nil {
		return nil, err
	}
	err = ranges.Read(p.ctx, s.set.Kafka, []*ranges.Span{span}, ranges.Limits{Patience: patience}, func(_ *ranges.Span, r *kgo.Record) error {
		noted.add(r, p.destination)
		return build.Add(r)
	})
	if err != nil {
		return nil, err
	}
	ids, err := group.IDs(p.ctx, s.set.Topics.Client, p.Topic)
	if err != nil {
		return nil, err
	}
	if ids[p.Topic] != p.topic {
		return nil, fmt.Errorf("%s: %w", p.Topic, group.ErrGone)
	}
	objects, err := build.Objects()
	return &content{objects, span.Deleted, noted}, err
}

// put stores an object. Of a range that has lost its beginning since it was announced, one
// that is there is the better one.
func (s *session) put(p *part, at *place, o *object.Object, cut bool) error {
	ctx, cancel := context.WithTimeout(p.ctx, s.cfg.Timeout)
	defer cancel()
	if cut {
		if there, err := at.Has(ctx, o.Name.String()); there || err != nil {
			return err
		}
	}
	if err := at.Put(ctx, o.Name.String(), o.Body); err != nil {
		return err
	}
	s.metrics.of(p.destination).stored(o)
	s.log.Debug("object stored", "destination", p.destination, "name", o.Name.String(), "lines", o.Lines, "bytes", len(o.Body))
	return nil
}

// tellLost tells of offsets that were deleted before they were archived, as far as that is
// known: of a range that was announced before they may be.
func (s *session) tellLost(p *part, offsets int64) {
	at := []any{"topic", p.Topic, "partition", p.Num, "offsets", offsets}
	p.mu.Lock()
	inherits := p.inherits
	p.mu.Unlock()
	if inherits {
		s.log.Warn("events were deleted while they were being archived: objects that were stored already are kept, others lack them", at...)
	} else {
		s.log.Error("events were deleted before they were archived: the archive lacks them",
			append(at, "likely_cause", "retention of the topic, shorter than what waited for this stage", "setting", policy.RetentionVariable(p.Topic, policy.RetentionMs))...)
	}
	s.losses.Count(p.Topic, groups.Deleted, offsets)
}

// complain logs a failure: what a destination's log says again and again, it says seldom.
func (a *Archive) complain(destination string, err error) {
	if passed, ok := a.failed.Admit(logging.Kind{Destination: destination}, time.Now()); ok {
		a.log.Warn("archiving failed, retrying", "destination", destination, "error", err, "passed_over", passed)
	}
}

// slots let one range of each destination be in memory, so that a store which hangs holds up
// its own destination alone. The zero value is ready.
type slots struct {
	mu  sync.Mutex
	all map[string]chan struct{}
}

// take waits for the slot of a destination, until ctx ends.
func (s *slots) take(ctx context.Context, destination string) (done func(), ok bool) {
	s.mu.Lock()
	slot := s.all[destination]
	if slot == nil {
		if s.all == nil {
			s.all = make(map[string]chan struct{})
		}
		slot = make(chan struct{}, 1)
		s.all[destination] = slot
	}
	s.mu.Unlock()
	select {
	case slot <- struct{}{}:
		return func() { <-slot }, true
	case <-ctx.Done():
		return nil, false
	}
}
