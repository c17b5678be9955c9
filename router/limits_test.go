package router

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/schemas"
)

// sized are writes of so many bytes each, as batches count them.
func sized(bytes ...int) []write {
	writes := make([]write, len(bytes))
	for i, n := range bytes {
		from := &kgo.Record{Topic: schemas.TopicRawEvents, Offset: int64(i)}
		writes[i] = write{from, &kgo.Record{Value: make([]byte, n-recordOverhead)}}
	}
	return writes
}

func TestPortion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		queue []write
		limit int
		want  int
	}{
		"all of them":            {sized(100, 100), 200, 2},
		"as many as fit":         {sized(100, 100, 100), 299, 2},
		"a large one goes alone": {sized(500, 100), 200, 1},
		"and not behind others":  {sized(100, 500), 200, 1},
		"nothing fits":           {sized(100), 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := portion(c.queue, c.limit); got != c.want {
				t.Errorf("portion = %d, want %d", got, c.want)
			}
		})
	}
}

// TestCulprits: a record is to blame where it was refused by itself, and of several
// it is known only that they were too much together.
func TestCulprits(t *testing.T) {
	t.Parallel()
	alone, crowded := culprits(map[partition][]write{
		{"deliver.crm", 0}:  sized(5000),
		{"deliver.lake", 0}: sized(100, 200),
		{"deliver.lake", 1}: sized(100, 100),
	})
	want := []refusal{{"deliver.crm", schemas.Position{Topic: schemas.TopicRawEvents}}}
	if diff := cmp.Diff(want, alone, cmp.AllowUnexported(refusal{})); diff != "" {
		t.Errorf("alone (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"deliver.lake": 200}, crowded); diff != "" {
		t.Errorf("crowded (-want +got):\n%s", diff)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := make(limits)
	if _, known := l.of("t", now); known {
		t.Error("a limit is known of a topic that refused nothing")
	}
	for _, step := range []struct{ refused, want int }{{50 << 20, largestBatch / 2}, {10_000, 5_000}, {20_000, 5_000}} {
		if got := l.lower("t", step.refused, now); got != step.want {
			t.Errorf("behind a batch of %d: %d, want %d", step.refused, got, step.want)
		}
	}
	if _, known := l.of("t", now.Add(limitHolds)); known {
		t.Error("the limit is kept for ever")
	}
}

// TestOnlyWhatIsTooLargeIsBuried: brokers refuse batches, and most of what is in them
// is not too large. The events that are cost their destination dead letters, and the
// others a few transactions in all.
func TestOnlyWhatIsTooLargeIsBuried(t *testing.T) {
	t.Parallel()
	const limit, small, large = 8 << 10, 300, 3
	crm := schemas.DeliverTopic("crm")
	for name, refuse := range map[string]func(*testing.T, *bench){
		"MESSAGE_TOO_LARGE":     func(t *testing.T, b *bench) { t.Helper(); setMaxMessageBytes(t, b, crm, strconv.Itoa(limit)) },
		"RECORD_LIST_TOO_LARGE": func(_ *testing.T, b *bench) { b.refuseBatches(crm, limit) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testkit.Fake(t, kfake.NumBrokers(1)))
			refuse(t, b)
			var sent []*kgo.Record
			for i := range small {
				sent = append(sent, event(strconv.Itoa(i), i, schemas.Headers{Source: "web"}))
				sent[i].Value = fmt.Appendf(nil, `{"pad":%q}`, incompressible(1000))
			}
			for i := range large {
				sent = append(sent, event("u", i, schemas.Headers{Source: "web"}))
				sent[small+i].Value = fmt.Appendf(nil, `{"pad":%q}`, incompressible(limit))
			}
			b.send(t, sent...)
			r := b.router(t)
			start(t, r)
			b.ReadAll(t, crm, small)
			b.ReadAll(t, schemas.DeliverTopic("lake"), small+large)
			for _, rec := range b.ReadAll(t, schemas.TopicDeadLetters, large) {
				if h, err := kafka.HeadersOf(rec); err != nil || h.Reason != schemas.ReasonRecordTooLarge || h.Destination != "crm" || len(rec.Value) < limit {
					t.Errorf("dead letter of %d bytes: reason %q, destination %q, %v", len(rec.Value), h.Reason, h.Destination, err)
				}
			}
			// One that finds the limit out, one that learns how low it is and which
			// events are above it, and one for those that it could not try.
			if got := testutil.ToFloat64(r.metrics.aborted); got > 6 {
				t.Errorf("%v transactions were aborted, want a few", got)
			}
		})
	}
}

// refuseBatches has the broker refuse what it calls a list of records that is too
// large for a segment.
func (b *bench) refuseBatches(topic string, limit int) {
	id := b.Fake.TopicInfo(topic).TopicID
	for num := range int32(topicConfig.DeliverPartitions) {
		b.Fake.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Partitions: []int32{num}, Err: kerr.RecordListTooLarge, Count: -1,
			When: func(req kmsg.Request) bool {
				return batchSize(req.(*kmsg.ProduceRequest), kmsg.ProduceRequestTopic{Topic: topic, TopicID: id}, num) > limit
			},
		})
	}
}

// batchSize is what a request holds for one partition, in bytes.
func batchSize(req *kmsg.ProduceRequest, topic kmsg.ProduceRequestTopic, num int32) int {
	for _, t := range req.Topics {
		if t.Topic != topic.Topic && t.TopicID != topic.TopicID {
			continue
		}
		for _, p := range t.Partitions {
			if p.Partition == num {
				return len(p.Records)
			}
		}
	}
	return 0
}
