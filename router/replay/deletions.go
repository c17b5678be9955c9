package replay

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
)

// deletions are the users whose data was to be deleted since the beginning of a range, and
// up to where: a user who came back since is sent what came later.
type deletions struct {
	client *kgo.Client
	next   map[int32]int64  // up to where the log was looked through
	users  map[string]int64 // offset of the last notification, by key
}

func newDeletions(client *kgo.Client, run *Run) *deletions {
	d := &deletions{client: client, next: make(map[int32]int64, len(run.Ranges)), users: make(map[string]int64)}
	for num, o := range run.Ranges {
		d.next[num] = o.From
	}
	return d
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
			d.users[string(rec.Key)] = max(d.users[string(rec.Key)], rec.Offset)
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

// since reports whether the user of an event was to be deleted after it.
func (d *deletions) since(rec *kgo.Record) bool {
	until, found := d.users[string(rec.Key)]
	return found && rec.Offset < until
}
