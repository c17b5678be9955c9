package lab

import (
	"context"
	"errors"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/load"
)

// Count reads a topic until it holds want different events of a producer that pick picks,
// or for a minute, and returns how often it holds each, by sequence number.
func (l *Lab) Count(ctx context.Context, topic, producer string, want int, pick func(*schemas.Headers) bool) (times map[int]int, err error) {
	waited := child.Until(ctx, time.Minute, "events of "+producer+" in "+topic, func() bool {
		times = make(map[int]int, want)
		err = load.ReadHeaders(ctx, l.Kafka, topic, func(h schemas.Headers) {
			if s, stampErr := books.ParseStamp(h.MessageID); stampErr == nil && s.Run == l.Books.Run() && s.Producer == producer && pick(&h) {
				times[s.Sequence]++
			}
		})
		return err == nil && len(times) >= want
	})
	if err != nil {
		return nil, errors.Join(waited, err)
	}
	return times, nil // that some are not there is for the row to judge
}

// Twice is how many events are there again, by how often each is.
func Twice(times map[int]int) (n int) {
	for _, each := range times {
		n += each - 1
	}
	return n
}
