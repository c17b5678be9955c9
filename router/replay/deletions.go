package replay

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
)

// deletions looks through the log for users whose data is to be deleted.
type deletions struct {
	client *kgo.Client
	next   map[int32]int64 // up to where it was looked through
	found  func(notification *kgo.Record)
}

// update looks through what was added to the log.
func (d *deletions) update(ctx context.Context) error {
	all, err := ranges.List(ctx, d.client, schemas.TopicRawEvents, time.Time{})
	if err != nil {
		return err
	}
	for num, r := range all {
		r.Start = max(r.Start, d.next[num])
		all[num] = ranges.Range{Start: min(r.Start, r.End), End: r.End}
	}
	spans := ranges.Spans(schemas.TopicRawEvents, all)
	if err := ranges.Scan(ctx, d.client, spans, [][]byte{[]byte(schemas.OriginDeletion)}, func(rec *kgo.Record) error {
		if h, err := kafka.HeadersOf(rec); err == nil && h.Origin == schemas.OriginDeletion {
			d.found(rec)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, s := range spans {
		d.next[s.Partition] = max(d.next[s.Partition], s.Next)
	}
	return nil
}
