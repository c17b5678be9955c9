package ask

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/spill"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
)

// part is a partition in the making.
type part struct {
	*replay
	*Extent

	num   int32
	meta  *place
	lacks map[engine.LeafID]time.Time // from when on calls count
	users *spill.Piles                // notes about them
	call  engine.Call
	note  []byte
}

func (r *replay) partition(ctx context.Context, num int32, told ranges.Range) error {
	p := &part{replay: r, num: num, users: spill.New(r.room)}
	defer p.users.Close()
	quiet := &Log{Kafka: r.log.Kafka, Topics: r.log.Topics}
	places, err := quiet.state(ctx, []int32{num}, func(_ int32, user, record []byte) error {
		id := string(user)
		return p.put(id, append(appendNote(p.note[:0], held, id), record...))
	})
	if err != nil {
		return err
	}
	of := told
	p.meta = places[num]
	if r.hears {
		if err := p.meta.settled(num, r.inForce); err != nil {
			return err
		}
	}
	if p.meta == nil || p.meta.Catalogue == "" || p.meta.Idle {
		p.meta = new(place)
		p.meta.Raw = told.End // no stage has been here, or it keeps nothing
	}
	of.End = p.meta.Raw
	if r.hears {
		of.End = max(of.End, told.End)
	}
	of.Start = min(of.Start, of.End)
	p.Extent = &Extent{Partition: num, From: of.Start, Offset: p.meta.Raw, Clock: p.meta.now()}
	p.wants()
	if len(p.lacks) > 0 || r.hears {
		if err := p.read(ctx, quiet, of, told.End); err != nil {
			return err
		}
	}
	p.progress(of.End - of.Start)
	return p.evaluate(ctx)
}

// put puts a note about a user on the user's pile.
func (p *part) put(user string, note []byte) error {
	p.note = note
	return p.users.Add(p.pileOf(user), note)
}

// settled returns why the stage is not done with a partition.
func (p *place) settled(num int32, inForce string) error {
	phase := Waiting
	switch {
	case p == nil || p.Catalogue != inForce:
	case len(p.Fills) > 0:
		phase = Filling
	case p.Sweep != nil:
		phase = Sweeping
	default:
		return nil
	}
	return fmt.Errorf("partition %d is %s: expected the stage to be done with all definitions: see `anabranch personas list`", num, phase)
}

// wants finds out which leaves are folded.
func (p *part) wants() {
	p.lacks = make(map[engine.LeafID]time.Time)
	for _, id := range p.c.Leaves() {
		leaf, ok := p.c.Leaf(id)
		if !ok || !p.refold(&p.meta.Meta, id) || !leaf.History.Full && leaf.History.For == 0 {
			continue
		}
		p.lacks[id] = time.Time{}
		if !leaf.History.Full {
			p.lacks[id] = p.Clock.Add(-leaf.History.For)
		}
	}
}

// only says into which leaves the call in hand is folded.
func (p *part) only(id engine.LeafID) bool {
	since, lacks := p.lacks[id]
	return lacks && !p.call.Received.Before(since)
}

func (p *part) read(ctx context.Context, log *Log, of ranges.Range, told int64) error {
	return log.read(ctx, schemas.TopicRawEvents, map[int32]ranges.Range{p.num: of}, func(rec *kgo.Record) error {
		if p.oldest.IsZero() {
			p.oldest = rec.Timestamp
		}
		h, broken := kafka.HeadersOf(rec)
		if broken != nil {
			return nil //nolint:nilerr // as for the stage, it is no call
		}
		switch {
		case h.Origin == schemas.OriginDeletion, h.Origin == schemas.OriginReplay && h.Source == workspace.SourcePersonas:
			return nil
		case h.Origin == schemas.OriginPersonas:
			return p.hear(rec, told)
		case rec.Offset >= p.Offset || len(p.lacks) == 0:
			return nil
		}
		return p.take(rec, &h)
	})
}

// hear takes in what was told.
func (p *part) hear(rec *kgo.Record, told int64) error {
	if !p.hears || rec.Offset >= told {
		return nil
	}
	t, ok, err := toldBy(rec)
	if err != nil || !ok || t.Cause == string(engine.CauseResync) {
		return err // what is told again was told
	}
	note, err := appendTold(appendNote(p.note[:0], heard, t.UserID), &t)
	if err != nil {
		return err
	}
	return p.put(t.UserID, note)
}

// take takes in a call, of which those are put aside that some leaf looks at.
func (p *part) take(rec *kgo.Record, h *schemas.Headers) error {
	p.Calls++
	p.call.Offset = rec.Offset
	if err := engine.ParseCall(&p.call, rec.Value, h, rec.Timestamp); err != nil {
		return nil //nolint:nilerr // as for the stage, it is no call
	}
	id := cmp.Or(p.call.UserID, p.call.AnonymousID)
	if id == "" || changelog.Reserved(id) || !p.c.Fills(&p.call, p.only) {
		return nil
	}
	return p.put(id, appendCall(appendNote(p.note[:0], called, id), rec, h))
}
