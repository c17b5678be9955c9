package kafka_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/test/testkit"
)

// A client is replaced once, however many find it wanting, and what it has in hand
// is stored.
func TestAClientIsReplacedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := testkit.Virtual(t, kfake.SeedTopics(1, "t"))
		options := append(cluster.Options(), kgo.ProducerLinger(time.Second))
		r, err := kafka.NewReplaceable(options, func(err error) { t.Errorf("gave up: %v", err) })
		if err != nil {
			t.Fatal(err)
		}
		first := r.Client()
		first.Produce(t.Context(), &kgo.Record{Topic: "t", Value: []byte("in hand")}, nil)
		if err = r.Replace(first); err != nil {
			t.Fatal(err)
		}
		second := r.Client()
		if second == first {
			t.Error("the client was not replaced")
		}
		if err = r.Replace(first); err != nil || r.Client() != second {
			t.Errorf("it was replaced again for the same reason, error %v", err)
		}
		r.Close(t.Context())
		if got := cluster.ReadAll(t, "t", 1); string(got[0].Value) != "in hand" {
			t.Errorf("stored %q", got[0].Value)
		}
	})
}

// One that is closed at once tells that records were given up, and does not wait.
func TestAClientIsClosedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := testkit.Virtual(t, kfake.SeedTopics(1, "t"))
		given := make(chan error, 3)
		r, err := kafka.NewReplaceable(append(cluster.Options(), kgo.ProducerLinger(time.Minute)), func(err error) { given <- err })
		if err != nil {
			t.Fatal(err)
		}
		cluster.Fake.Close()
		for range 2 {
			r.Client().Produce(t.Context(), &kgo.Record{Topic: "t"}, nil)
			if err = r.Replace(r.Client()); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		r.Close(ctx)
		if took := time.Since(began); took > time.Second || len(given) != 3 {
			t.Errorf("closed after %s, gave up %d times", took, len(given))
		}
	})
}
