package messagetrace

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

// Stored returns the record on raw-events of a call with a messageId, nil where there is none
// in the time of the query; of copies any one. It searches as [Find] does, the newest first,
// and asks nobody what became of the call.
func Stored(ctx context.Context, log *Log, q Query) (call *kgo.Record, searched Searched, err error) {
	s := &search{Log: log, q: q}
	if err = s.prepare(ctx); err != nil {
		return nil, s.seen, err
	}
	for _, w := range windows(q.Since, q.Until, q.MessageID, firstWindow) {
		if s.Progress != nil {
			s.Progress(w.From, s.seen.Records)
		}
		spans, err := s.spans(ctx, schemas.TopicRawEvents, s.nums, w)
		if err != nil {
			return nil, s.seen, err
		}
		for _, span := range spans {
			s.seen.Records += span.Left()
		}
		err = s.scan(ctx, spans, func(r *kgo.Record) error {
			if h, _ := kafka.HeadersOf(r); h.MessageID == q.MessageID && (q.User == "" || string(r.Key) == q.User) {
				call = r
			}
			return nil
		}, []byte(q.MessageID))
		if call != nil || err != nil {
			return call, s.seen, err
		}
	}
	return nil, s.seen, nil
}
