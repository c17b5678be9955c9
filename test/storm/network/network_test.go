package network

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestNobodyGetsAroundIt: a client that was told the address of the network alone, and
// may use no other, finds all that it needs; until it is cut, or silent, and again when it
// is mended.
func TestNobodyGetsAroundIt(t *testing.T) {
	t.Parallel()
	const topic = "t"
	c := testkit.Fake(t, kfake.NumBrokers(1))
	c.CreateTopics(t, 1, topic)
	n, err := New(t.Context(), func() string { return c.Fake.ListenAddrs()[0] })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	client := func(opts ...kgo.Opt) *kgo.Client {
		cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(n.Addr()), kgo.Dialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr != n.Addr() {
				t.Errorf("the client knows %s", addr)
				return nil, errors.New("no way there")
			}
			var d net.Dialer
			return d.DialContext(ctx, network, addr)
		}))...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		return cl
	}
	producer := client(kgo.TransactionalID("id")) // its coordinator is asked for
	write := func() {
		t.Helper()
		if err := producer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := producer.ProduceSync(t.Context(), &kgo.Record{Topic: topic}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := producer.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
			t.Fatal(err)
		}
	}
	write()
	other := client()
	for name, hurt := range map[string]func(){"cut": n.Cut, "silent": n.Silence} {
		hurt()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if other.Ping(ctx) == nil {
			t.Errorf("%s: the broker answers", name)
		}
		cancel()
		n.Mend()
		write()
	}
	c.ReadAll(t, topic, 3)
}
