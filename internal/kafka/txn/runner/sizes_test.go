package runner

import (
	"crypto/rand"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestATopicThatRefusesLargeBatches: what it takes one by one it gets, and what it does
// not take by itself is not written again, so that transactions come to an end.
func TestATopicThatRefusesLargeBatches(t *testing.T) {
	t.Parallel()
	const limit, small = 8 << 10, 100
	for name, refuse := range map[string]func(*testing.T, *bench){
		"MESSAGE_TOO_LARGE":     func(t *testing.T, b *bench) { t.Helper(); b.Limit(t, crm, limit) },
		"RECORD_LIST_TOO_LARGE": func(_ *testing.T, b *bench) { b.LimitLists(crm, int32(topicConfig.DeliverPartitions), limit) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testkit.Fake(t, kfake.NumBrokers(1)))
			refuse(t, b)
			events := append(users(small), &kgo.Record{Topic: source, Key: []byte("large"), Value: make([]byte, 2*limit)})
			for _, rec := range events {
				rec.Value = make([]byte, max(len(rec.Value), 1000))
				_, _ = rand.Read(rec.Value) // which does not compress
			}
			b.send(t, events...)
			r := b.runner(t)
			start(t, r)
			b.ReadAll(t, crm, small)
			b.ReadAll(t, lake, small+1)
			if n := r.aborted.Load(); n == 0 || n > 6 {
				t.Errorf("%d transactions were aborted, want a few", n)
			}
		})
	}
}
