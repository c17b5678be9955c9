package kafka

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

func TestAwaitReturnsOnceABrokerAnswers(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	if err := Await(t.Context(), c.Options(), c.Addrs, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
}

// Containers start in any order: a broker that comes half a minute later is
// waited for, and the log says within five seconds what is waited for.
func TestAwaitNamesTheBrokerThatIsNotThereYet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		network := new(kfake.VirtualNetwork)
		var out testkit.Logs
		opts := []kgo.Opt{kgo.SeedBrokers("localhost:9092"), kgo.Dialer(network.DialContext), kgo.DisableClientMetrics()}
		done := make(chan error, 1)
		go func() {
			done <- Await(t.Context(), opts, []string{"localhost:9092"}, slog.New(slog.NewTextHandler(&out, nil)))
		}()
		virtual.Sleep(5 * time.Second)
		synctest.Wait()
		for _, part := range []string{"localhost:9092", "KAFKA_BROKERS", "error="} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("the log after five seconds is %q, want %q in it", out.String(), part)
			}
		}
		virtual.Sleep(25 * time.Second)
		fake, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(9092), kfake.ListenFn(network.Listen))
		if err != nil {
			t.Fatal(err)
		}
		defer fake.Close()
		if err := <-done; err != nil {
			t.Errorf("Await = %v after the broker came", err)
		}
	})
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const addr = "127.0.0.1:9092"
		refuse := func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := Await(ctx, []kgo.Opt{kgo.SeedBrokers(addr), kgo.Dialer(refuse)}, []string{addr}, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), addr) || !strings.Contains(err.Error(), "refused") {
			t.Errorf("Await = %v, want the address and the cause", err)
		}
	})
}
