package router

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestLeadersThatMove among several brokers, of calls, of digests and of what is written,
// while routers come back without files: each call is routed once.
func TestLeadersThatMove(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t, kfake.NumBrokers(3)))
	random := rand.New(rand.NewPCG(9, 9)) // the same in each run
	const rounds, moves, burst = 3, 4, 60
	want := make(map[string]int)
	for range rounds {
		r := b.router(t, func(cfg *Config, _ *Settings) { cfg.MaxRecords, cfg.DataDir = 20, t.TempDir() })
		stop := start(t, r)
		for range moves {
			b.Fake.ShufflePartitionLeaders()
			b.Fake.RehashCoordinators()
			events := make([]*kgo.Record, burst)
			for i := range events {
				user := random.IntN(20)
				events[i] = event(fmt.Sprintf("u%d", user), random.IntN(100), schemas.Headers{Source: "web"})
				h, err := kafka.HeadersOf(events[i])
				if err != nil {
					t.Fatal(err)
				}
				want[h.MessageID] = 1
			}
			b.send(t, events...)
			b.ReadAll(t, schemas.DeliverTopic("crm"), len(want))
		}
		testkit.Until(t, func() bool { return r.Ready() == nil }, "the router to have taken all")
		stop()
	}
	got := make(map[string]int)
	for _, rec := range b.ReadAll(t, schemas.DeliverTopic("crm"), len(want)) {
		h, err := kafka.HeadersOf(rec)
		if err != nil {
			t.Fatal(err)
		}
		got[h.MessageID]++
	}
	for id := range want {
		if got[id] != 1 {
			t.Errorf("%s was routed %d times", id, got[id])
		}
	}
	b.ReadAll(t, schemas.TopicDeadLetters, 0)
}
