package deadletters

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
)

// ErrGone says that the value of a dead letter was left out because of its size,
// and that the topic it first stood in does not hold it any more.
var ErrGone = errors.New("its value was left out, and the original record is gone")

// errFound ends a search.
var errFound = errors.New("found")

// Event returns the record whose value is the event: the dead letter itself, or,
// when that leaves the value out, the record that it refers to. The error is
// [ErrGone] when there is no such record any more.
func (l *Log) Event(ctx context.Context, dead *Letter) (*kgo.Record, error) {
	if !dead.Headers.Reference {
		return dead.Record, nil
	}
	from := dead.Headers.From
	held, err := l.ranges(ctx, from.Topic, time.Time{})
	if err != nil {
		return nil, err
	}
	if r, ok := held[from.Partition]; !ok || from.Offset < r.Start || from.Offset >= r.End {
		return nil, ErrGone
	}
	var event *kgo.Record
	at := ranges.Range{Start: from.Offset, End: from.Offset + 1}
	err = l.read(ctx, from.Topic, from.Partition, at, func(r *kgo.Record) error {
		event = r
		return errFound
	})
	switch {
	case err != nil && !errors.Is(err, errFound):
		return nil, err
	case event == nil || !same(dead, event):
		return nil, ErrGone
	}
	return event, nil
}

// same guards against a topic that was deleted and made anew, where another
// event stands at the old one's offset.
func same(dead *Letter, event *kgo.Record) bool {
	h, err := kafka.HeadersOf(event)
	return bytes.Equal(event.Key, dead.Record.Key) && (err != nil || h.MessageID == dead.Headers.MessageID)
}
