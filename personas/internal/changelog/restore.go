package changelog

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/personas/internal/store"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// flushBytes is how much is put into a store at once.
	flushBytes = 4 << 20
	// patience is how long brokers may have nothing to say. A transaction that is open ends
	// within its timeout.
	patience = 30 * time.Second
)

// Restorer brings a store up to date.
type Restorer struct {
	Log    *slog.Logger
	Kafka  []kgo.Opt
	Topics *topics.Admin
	Store  store.Store
	// Due says when the state of a user is due; zero: never.
	Due func(state []byte) (time.Time, error)
	// Progress is told how many records were read since it was told last, and how many are
	// left at most.
	Progress func(read int, left int64)
}

// Restore brings partitions up to date, and returns how far each of them is. Of one that
// the changelog has nothing of, that is the zero Meta.
func (r *Restorer) Restore(ctx context.Context, nums []int32) (map[int32]*Checkpoint, error) {
	const topic = schemas.TopicPersonasChangelog
	id, err := r.Topics.ID(ctx, topic)
	if err != nil {
		return nil, err
	}
	extents, err := r.Topics.Extents(ctx, topic)
	if err != nil {
		return nil, err
	}
	all := make(map[int32]*Checkpoint, len(nums))
	spans := make([]*ranges.Span, 0, len(nums))
	for _, num := range nums {
		extent, told := extents[topic][num]
		if !told {
			return nil, fmt.Errorf("%s[%d] has no leader: the state of its users can't be read", topic, num)
		}
		if all[num], err = r.begin(num, id, extent); err != nil {
			return nil, err
		}
		spans = append(spans, &ranges.Span{Topic: topic, Partition: num, Next: all[num].Next, End: extent.End})
	}
	return all, r.read(ctx, spans, all)
}

// begin returns the checkpoint from which a store goes on, which is that of nothing where
// the store's own is no place of the topic.
func (r *Restorer) begin(num int32, id string, extent kafka.Extent) (*Checkpoint, error) {
	text, ok, err := r.Store.Checkpoint(num)
	if err != nil {
		return nil, err
	}
	c := new(Checkpoint)
	if ok {
		if err := Decode(text, c); err == nil && (c.Of == "" || id == "" || c.Of == id) && extent.Start <= c.Next && c.Next <= extent.End {
			return c, nil
		}
		r.Log.Info("store of user records does not fit the changelog, reading all of it", "partition", num, "store_at", c.Next, "begins", extent.Start, "ends", extent.End)
	}
	return &Checkpoint{Of: id, Next: extent.Start}, r.Store.Wipe(num)
}

func (r *Restorer) read(ctx context.Context, spans []*ranges.Span, all map[int32]*Checkpoint) error {
	var batch store.Batch
	read := 0
	flush := func() error {
		for _, s := range spans {
			all[s.Partition].Next = s.Next
			batch.SetCheckpoint(s.Partition, all[s.Partition].Encode())
		}
		err := r.Store.Apply(&batch)
		batch.Reset()
		return err
	}
	err := ranges.Read(ctx, r.Kafka, spans, ranges.Limits{Patience: patience}, func(s *ranges.Span, rec *kgo.Record) error {
		if batch.Size() > flushBytes {
			// Of this span all before the record in hand is in the batch.
			s.Next = rec.Offset
			if err := flush(); err != nil {
				return err
			}
			r.tell(read, spans)
			read = 0
		}
		read++
		if string(rec.Key) == metaKey {
			m := Meta{}
			if err := Decode(rec.Value, &m); err != nil {
				return err
			}
			all[s.Partition].Meta = m
			return nil
		}
		if rec.Value == nil {
			batch.Delete(s.Partition, rec.Key) // by hand: the stage removes nothing
			return nil
		}
		batch.Put(s.Partition, rec.Key, rec.Value)
		due, err := r.Due(rec.Value)
		if err == nil && !due.IsZero() {
			batch.SetTimer(s.Partition, rec.Key, due)
		}
		if err != nil {
			return fmt.Errorf("record of user %q at %s[%d]@%d: %w", rec.Key, rec.Topic, rec.Partition, rec.Offset, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("restore the state of users: %w", err)
	}
	r.tell(read, spans)
	return flush()
}

func (r *Restorer) tell(read int, spans []*ranges.Span) {
	left := int64(0)
	for _, s := range spans {
		left += s.Left()
	}
	r.Progress(read, left)
}
