package groups

import (
	"errors"
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/schemas"
)

// Losses finds what a group will never read of its partitions: records that were
// deleted before it had read them, and the end of a log that its brokers have lost.
// Each is an error in the log and is counted. The client says nothing of the former
// and goes on at the first record that there is.
//
// Losses outlives the clients of its stage. It may be used by many goroutines.
type Losses struct {
	log     *slog.Logger
	offsets *prometheus.CounterVec

	mu   sync.Mutex
	next map[kafka.Partition]int64 // the first offset that is not read; none: whatever is read first
}

// Cause is why offsets are lost.
type Cause string

// The causes there are.
const (
	Deleted   Cause = "deleted"   // before they were read
	Truncated Cause = "truncated" // the log goes on before where it had been read to
)

// loss is a range of offsets of a partition: From up to To, To excluded. Among those
// deleted there may be some that held no record for readers: markers of transactions,
// and what was aborted. How much is lost of a log that was truncated nobody knows.
type loss struct {
	kafka.Partition
	cause    Cause
	from, to int64
}

// NewLosses returns the losses of a stage that reads topics, which counts them by
// families: "deliver" and "webhook-retry" are one each, any other topic is its own.
func NewLosses(stage string, registerer prometheus.Registerer, log *slog.Logger, families ...string) *Losses {
	l := &Losses{
		log: log,
		offsets: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anabranch_" + stage + "_lost_offsets_total",
			Help: "Offsets whose events this stage will never read, by topic and cause: deleted (by retention or by hand, before they were read; markers of transactions are counted too), " +
				"truncated (the brokers have lost the end of a partition; one at least, how many is not known).",
		}, []string{"topic", "cause"}),
		next: make(map[kafka.Partition]int64),
	}
	registerer.MustRegister(l.offsets)
	for _, family := range families {
		for _, c := range []Cause{Deleted, Truncated} {
			l.offsets.WithLabelValues(family, string(c))
		}
	}
	return l
}

// Begin tells where reading begins on partitions that a client of the stage is given:
// where the group has come to, as [kgo.AdjustFetchOffsetsFn] has it.
func (l *Losses) Begin(all map[string]map[int32]kgo.Offset) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for topic, partitions := range all {
		for num, offset := range partitions {
			at, next := kafka.Partition{Topic: topic, Num: num}, offset.EpochOffset().Offset
			if next < 0 {
				delete(l.next, at) // nothing was promised of a topic that is read for the first time
				continue
			}
			l.next[at] = next
		}
	}
}

// Count counts a loss that the stage itself has found, and says in its log.
func (l *Losses) Count(topic string, c Cause, offsets int64) {
	l.offsets.WithLabelValues(schemas.FamilyOf(topic), string(c)).Add(float64(max(offsets, 1)))
}

// Polled tells of the losses that a poll gives away, and takes its records for read.
func (l *Losses) Polled(fetches kgo.Fetches) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// What the client has noticed first: records of the same poll come after it.
	fetches.EachError(func(topic string, partition int32, err error) {
		if noticed, ok := errors.AsType[*kgo.ErrDataLoss](err); ok {
			l.tell(loss{kafka.Partition{Topic: topic, Num: partition}, Truncated, noticed.ResetTo, noticed.ConsumedTo}, noticed.ResetTo)
		}
	})
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if len(p.Records) == 0 {
			return
		}
		at, first := kafka.Partition{Topic: p.Topic, Num: p.Partition}, p.Records[0].Offset
		if next, known := l.next[at]; known {
			if c, from, to := gap(next, first, &p.FetchPartition); c != "" {
				l.tell(loss{at, c, from, to}, first)
			}
		}
		l.next[at] = p.Records[len(p.Records)-1].Offset + 1
	})
}

// gap judges the first record of a poll by what was to be read next. A gap between the
// two alone is nothing: aborted records are left out. But a log that begins behind
// what was to be read does not have it, and one that ends before it has lost its end;
// a reader that went back, which a new session may, sees an end that is not.
func gap(next, first int64, p *kgo.FetchPartition) (c Cause, from, to int64) {
	switch start := min(p.LogStartOffset, first); {
	case next < start:
		return Deleted, next, start
	case first < next && p.HighWatermark >= 0 && p.HighWatermark < next:
		return Truncated, p.HighWatermark, next
	}
	return "", 0, 0
}

// tell logs and counts a loss, once: from now on what is at resume is read next.
func (l *Losses) tell(lost loss, resume int64) {
	l.next[lost.Partition] = resume
	l.Count(lost.Topic, lost.cause, lost.to-lost.from)
	at := []any{"topic", lost.Topic, "partition", lost.Num, "from", lost.from, "to", lost.to}
	if lost.cause == Truncated {
		l.log.Error("the end of a partition is gone: acknowledged events may be lost, reading continues with those that follow",
			append(at, "likely_cause", "brokers that lost what they had acknowledged (an unclean leader election, a power failure), or a topic that was recreated")...)
		return
	}
	l.log.Error("events were deleted before they were read: they are lost",
		append(at, "offsets", lost.to-lost.from, "likely_cause", "retention of the topic, shorter than what waited for this stage", "setting", policy.RetentionVariable(lost.Topic, policy.RetentionMs))...)
}
