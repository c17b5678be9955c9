package writes

import (
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

const (
	// largestBatch is what the client puts into one batch at most, and brokers take
	// by default.
	largestBatch = 1_000_012
	// limitHolds is how long a topic's limit is kept: somebody may have raised it.
	limitHolds = time.Hour
	// recordOverhead is about what a batch spends on a record beside its key, value
	// and headers.
	recordOverhead = 32
)

// Sizes are what topics have refused as too large, from one transaction to the next.
// They belong to the loop: one goroutine uses them.
type Sizes struct {
	log    *slog.Logger
	limits limits
	// refused holds what aborted a transaction by its size, so that it does not
	// abort the next one.
	refused map[refusal]bool
}

// NewSizes returns sizes of which nothing is known.
func NewSizes(log *slog.Logger) *Sizes {
	return &Sizes{log: log, limits: make(limits), refused: make(map[refusal]bool)}
}

// Refused reports whether a topic has refused by itself what was made from a record.
func (s *Sizes) Refused(topic string, from *kgo.Record) bool {
	return len(s.refused) > 0 && s.refused[refusal{topic, position(from)}]
}

// Committed forgets what was refused: whatever it was made from is dealt with.
func (s *Sizes) Committed() { clear(s.refused) }

// learn draws the lesson of what was refused, and reports whether there was any.
func (s *Sizes) learn(refused map[partition][]write) bool {
	alone, crowded := culprits(refused)
	for _, record := range alone {
		s.refused[record] = true
	}
	now := time.Now()
	for _, topic := range slices.Sorted(maps.Keys(crowded)) {
		bytes := s.limits.lower(topic, crowded[topic], now)
		s.log.Warn("topic refuses batches for their size, writing smaller ones; raise its max.message.bytes", "topic", topic, "bytes", bytes)
	}
	return len(refused) > 0
}

// limits are what some topics take in one batch, in bytes before compression. What
// the limit of a topic is, only an administrator may ask; a refusal tells that a
// batch was too large, and of no record in it which.
type limits map[string]limit

type limit struct {
	bytes int
	until time.Time
}

// of returns the limit of a topic; false: none is known.
func (l limits) of(topic string, now time.Time) (int, bool) {
	known, ok := l[topic]
	if ok && !now.Before(known.until) {
		delete(l, topic)
		return 0, false
	}
	return known.bytes, ok
}

// lower notes that a batch of so many bytes was refused.
func (l limits) lower(topic string, refused int, now time.Time) int {
	bytes := min(refused, largestBatch) / 2
	if known, ok := l.of(topic, now); ok {
		bytes = min(bytes, known)
	}
	l[topic] = limit{bytes: bytes, until: now.Add(limitHolds)}
	return bytes
}

// portion is how many of the first records make one batch below the limit, and 1
// where the first is larger by itself: whether a broker takes it is known only when
// it stands alone.
func portion(queue []write, limit int) int {
	bytes := 0
	for i, w := range queue {
		if bytes += sizeOf(w.out); bytes > limit {
			return max(i, 1)
		}
	}
	return len(queue)
}

// sizeOf is about what a record takes of a batch, before it is compressed.
func sizeOf(rec *kgo.Record) int {
	n := recordOverhead + len(rec.Key) + len(rec.Value)
	for i := range rec.Headers {
		n += len(rec.Headers[i].Key) + len(rec.Headers[i].Value)
	}
	return n
}

// refusal is a record that a topic does not take because of its size.
type refusal struct {
	topic string
	from  schemas.Position
}

// culprits tells apart what was refused for its size: records that stood alone, and
// topics with the bytes of a batch that was too much for them. The client fails with
// a batch whatever waits for the same partition behind it, so a record that was
// refused by itself was alone in its batch.
func culprits(refused map[partition][]write) (alone []refusal, crowded map[string]int) {
	crowded = make(map[string]int)
	for at, records := range refused {
		if len(records) == 1 {
			alone = append(alone, refusal{at.topic, position(records[0].from)})
			continue
		}
		bytes := 0
		for _, w := range records {
			bytes += sizeOf(w.out)
		}
		if least, ok := crowded[at.topic]; !ok || bytes < least {
			crowded[at.topic] = bytes
		}
	}
	return alone, crowded
}

func position(rec *kgo.Record) schemas.Position {
	return schemas.Position{Topic: rec.Topic, Partition: rec.Partition, Offset: rec.Offset}
}
