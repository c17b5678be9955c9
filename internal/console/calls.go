package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/console/internal/tail"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// newestRead is how many of the newest offsets are looked at for a list of calls, and
	// newestShown how many calls are in it.
	newestRead  = 5000
	newestShown = 100

	// liveWait is how long a fetch may wait until so many bytes have come: what a person sees
	// a quarter of a second later costs far fewer fetches.
	liveWait  = 250 * time.Millisecond
	liveBytes = 64 << 10
	livePoll  = 1000 // records
	// liveQuiet is how long nothing may come before brokers are asked whether they answer.
	liveQuiet = 5 * time.Second
)

// newest returns the newest calls of those that somebody wants to see, the newest first.
func (b *Brokers) newest(ctx context.Context, of tail.Wanted, say func(string)) ([]*tail.Call, error) {
	all, err := ranges.List(ctx, b.Topics.Client, schemas.TopicRawEvents, time.Time{})
	if err != nil {
		return nil, err
	}
	for num, r := range all {
		r.Start = max(r.Start, r.End-newestRead/int64(len(all)))
		all[num] = r
	}
	var found []*tail.Call
	read := int64(0)
	err = ranges.Read(ctx, b.Kafka, ranges.Spans(schemas.TopicRawEvents, all), ranges.Limits{Patience: quick}, func(_ *ranges.Span, r *kgo.Record) error {
		if read++; read%1000 == 0 {
			say(terminal.Count(read) + " calls so far")
		}
		if call := tail.NewCall(r); of.Wants(call) {
			found = append(found, call)
		}
		if len(found) >= 2*newestShown*len(all) {
			found = newestOf(found)
		}
		return nil
	})
	return newestOf(found), err
}

// newestOf are the newest of some calls, the newest first.
func newestOf(all []*tail.Call) []*tail.Call {
	slices.SortFunc(all, func(a, b *tail.Call) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Partition, b.Partition), cmp.Compare(b.Offset, a.Offset))
	})
	return slices.Clone(all[:min(len(all), newestShown)])
}

// errNoCall says that a call is not there.
var errNoCall = errors.New("there is no such call: retention may have deleted it")

// call reads one call.
func (b *Brokers) call(ctx context.Context, at CallAt) (*tail.Call, error) {
	all, err := ranges.List(ctx, b.Topics.Client, schemas.TopicRawEvents, time.Time{})
	if err != nil {
		return nil, err
	}
	if r, there := all[at.Partition]; !there || at.Offset < r.Start || at.Offset >= r.End {
		return nil, errNoCall
	}
	part, err := ranges.Fetch(ctx, b.Topics.Client, schemas.TopicRawEvents, at.Partition, at.Offset, 1)
	if err != nil {
		return nil, err
	}
	for _, r := range part.Records {
		if r.Offset == at.Offset {
			return tail.NewCall(r), nil
		}
	}
	return nil, errNoCall
}

// follow reads calls as they come.
func (b *Brokers) follow(ctx context.Context, from tail.From, to tail.Feed) error {
	all, err := b.positions(ctx, from)
	if err != nil {
		return err
	}
	to.Well()
	cl, err := ranges.Open(slices.Concat(b.Kafka, []kgo.Opt{kgo.FetchMinBytes(liveBytes)}), liveWait, ranges.Spans(schemas.TopicRawEvents, all)...)
	if err != nil {
		return err
	}
	defer cl.Close()
	for {
		if err = poll(ctx, cl, func(r *kgo.Record) { to.Each(r, r.Offset < all[r.Partition].End) }); err != nil {
			return err
		}
		if _, err = b.positions(ctx, from); err != nil {
			return err
		}
		to.Well()
	}
}

// positions are where reading begins, and what stands there now.
func (b *Brokers) positions(ctx context.Context, from tail.From) (map[int32]ranges.Range, error) {
	ctx, cancel := context.WithTimeout(ctx, quick)
	defer cancel()
	all, err := ranges.List(ctx, b.Topics.Client, schemas.TopicRawEvents, from.Since)
	for num, r := range all {
		if next, known := from.Next[num]; known {
			r.Start = next
			all[num] = r
		}
	}
	if len(all) == 0 && err == nil {
		err = fmt.Errorf("there is no topic %s", schemas.TopicRawEvents)
	}
	return all, err
}

// poll hands out records until none has come for a while, or with the first error that the
// client does not recover from.
func poll(ctx context.Context, cl *kgo.Client, each func(*kgo.Record)) error {
	for {
		fetches, err := pollOnce(ctx, cl)
		if err != nil || fetches.NumRecords() == 0 {
			return err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() {
				each(r)
			}
		})
	}
}

func pollOnce(ctx context.Context, cl *kgo.Client) (kgo.Fetches, error) {
	wait, cancel := context.WithTimeout(ctx, liveQuiet)
	defer cancel()
	fetches := cl.PollRecords(wait, livePoll)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var final error
	fetches.EachError(func(topic string, num int32, err error) {
		if !errors.Is(err, context.DeadlineExceeded) && !kerr.IsRetriable(err) {
			final = fmt.Errorf("read %s[%d]: %w", topic, num, err)
		}
	})
	return fetches, final
}
