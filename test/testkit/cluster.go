package testkit

import (
	"context"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// virtualPort is any port: each virtual network has all of them to itself.
const virtualPort = 9092

// Cluster is a Kafka cluster that one test has to itself.
type Cluster struct {
	// Addrs are the seed brokers, host:port.
	Addrs []string
	// Fake is the in-process cluster, nil on a real broker. A test that
	// needs it begins with [Fake] or [Virtual].
	Fake *kfake.Cluster

	network *kfake.VirtualNetwork // nil outside virtual time
}

// Brokers returns an empty cluster that ends with the test. The options shape
// the fake and mean nothing to a real broker, so a test whose outcome depends on
// them begins with [Fake] instead. Call it once per test, and not in a test and
// its subtests both: on a real broker the second call waits for the first.
func Brokers(tb testing.TB, opts ...kfake.Opt) *Cluster {
	tb.Helper()
	addrs := realBrokers(tb)
	if len(addrs) == 0 {
		return newFake(tb, opts)
	}
	c := &Cluster{Addrs: addrs}
	c.reserve(tb)
	return c
}

// Fake returns an in-process cluster for a test that reaches into it, mostly to
// inject faults. Where tests run on a real broker it skips: the default run has
// already shown all that it could show there.
func Fake(tb testing.TB, opts ...kfake.Opt) *Cluster {
	tb.Helper()
	skipOnReal(tb, "reaches into the in-process broker")
	return newFake(tb, opts)
}

// Virtual returns an in-process cluster of one broker for a test inside a
// [testing/synctest] bubble: its network is made of pipes, which let the virtual
// clock advance. Clients reach it through [Cluster.Options] alone.
func Virtual(tb testing.TB, opts ...kfake.Opt) *Cluster {
	tb.Helper()
	skipOnReal(tb, "runs in virtual time")
	network := new(kfake.VirtualNetwork)
	opts = slices.Concat([]kfake.Opt{kfake.NumBrokers(1), kfake.Ports(virtualPort), kfake.ListenFn(network.Listen)}, opts)
	c := newFake(tb, opts)
	c.network = network
	return c
}

// Options returns what a client needs to reach the cluster.
func (c *Cluster) Options() []kgo.Opt {
	// A client that met a topic before it was visible asks again after this time;
	// with the library's five seconds most tests would spend them.
	opts := []kgo.Opt{kgo.SeedBrokers(c.Addrs...), kgo.MetadataMinAge(50 * time.Millisecond)}
	if c.network != nil {
		opts = append(opts, kgo.Dialer(c.network.DialContext))
	}
	return opts
}

// Dial connects to a cluster in virtual time, for tests that put something between.
func (c *Cluster) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return c.network.DialContext(ctx, network, addr)
}

// Client returns a client that is closed when the test ends.
func (c *Cluster) Client(tb testing.TB, opts ...kgo.Opt) *kgo.Client {
	tb.Helper()
	cl, err := kgo.NewClient(append(c.Options(), opts...)...)
	if err != nil {
		tb.Fatalf("create Kafka client: %v", err)
	}
	tb.Cleanup(cl.Close)
	return cl
}

// admin returns a client that sees topics come and go at once: the default is to
// trust what is known of a topic for five seconds.
func (c *Cluster) admin(tb testing.TB) *kadm.Client {
	tb.Helper()
	return kadm.NewClient(c.Client(tb, kgo.MetadataMinAge(10*time.Millisecond)))
}

func newFake(tb testing.TB, opts []kfake.Opt) *Cluster {
	tb.Helper()
	fake, err := kfake.NewCluster(opts...)
	if err != nil {
		tb.Fatalf("start in-process broker: %v", err)
	}
	tb.Cleanup(fake.Close)
	return &Cluster{Addrs: fake.ListenAddrs(), Fake: fake}
}

// realBrokers returns the addresses of the real broker that the environment
// asks for, nil when it asks for none.
func realBrokers(tb testing.TB) []string {
	tb.Helper()
	if named := os.Getenv("KAFKA_BROKERS"); named != "" {
		return strings.Split(named, ",")
	}
	switch kind := os.Getenv("ANABRANCH_TEST_BROKER"); kind {
	case "":
		return nil
	case "redpanda":
		return []string{redpandaAddr(tb)}
	default:
		tb.Fatalf("ANABRANCH_TEST_BROKER=%s: expected redpanda, or nothing for the in-process broker", kind)
		return nil
	}
}

func skipOnReal(tb testing.TB, why string) {
	tb.Helper()
	if os.Getenv("KAFKA_BROKERS") != "" || os.Getenv("ANABRANCH_TEST_BROKER") != "" {
		tb.Skip("this test " + why + ": it has nothing to show on a real broker")
	}
}
