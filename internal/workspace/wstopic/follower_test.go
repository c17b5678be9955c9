package wstopic

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

func TestFollowerPutsChangesInForce(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	apply(t, p, wstest.CRM())
	f, live, out := following(t, c.Options())
	ready(t, f)
	wstest.Equal(t, live.Load(), wstest.CRM())

	changed := live.Changed()
	apply(t, p, wstest.Of("a", "b"))
	<-changed
	wstest.Equal(t, live.Load(), wstest.Of("a", "b"))
	apply(t, p, wstest.Of("b"))
	inForce(t, live, "b")
	if strings.Contains(out.String(), wstest.Canary) {
		t.Errorf("a secret is logged:\n%s", out)
	}
}

func TestFollowerOfAnEmptyTopicIsReadyAtOnce(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	c.CreateTopics(t, 1, schemas.TopicWorkspace)
	f, live, _ := following(t, c.Options())
	ready(t, f)
	apply(t, publisher(t, c), wstest.Of("a"))
	inForce(t, live, "a")
}

func TestFollowerWaitsForItsTopic(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	f, live, out := following(t, c.Options())
	testkit.Until(t, func() bool { return out.Count("topic workspace does not exist yet") > 0 }, "the missing topic to be logged")
	if err := f.Ready(); err == nil {
		t.Error("ready without a topic")
	}
	apply(t, publisher(t, c), wstest.Of("a"))
	inForce(t, live, "a")
	ready(t, f)
	if n := out.Count("topic workspace does not exist yet"); n != 1 {
		t.Errorf("logged %d times", n)
	}
}

// TestFollowerStartsWithTheWholeState looks at everything that is put in force:
// not the past, record by record, but the present at once.
func TestFollowerStartsWithTheWholeState(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	for _, ids := range [][]string{{"a"}, {"a", "b"}, {"c"}} {
		apply(t, p, wstest.Of(ids...))
	}
	f, live, out := following(t, c.Options())
	ready(t, f)
	inForce(t, live, "c")
	if n := out.Count("workspace in force"); n != 1 {
		t.Errorf("%d snapshots were in force:\n%s", n, out)
	}
}

func TestFollowerSeesTransactionsWhole(t *testing.T) {
	t.Parallel()
	const first, second = `{"type":"webhooks","endpoints":[{"url":"http://b"}]}`, `{"type":"webhooks","endpoints":[{"url":"http://c"}]}`
	for name, tt := range map[string]struct {
		try  kgo.TransactionEndTry
		want []string
	}{
		"committed": {kgo.TryCommit, []string{"a", "b", "c", "d"}},
		"aborted":   {kgo.TryAbort, []string{"a", "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testkit.Brokers(t)
			apply(t, publisher(t, c), wstest.Of("a"))
			end := transaction(t, c, record("destination/b", first), record("destination/c", second))
			f, live, _ := following(t, c.Options())
			ready(t, f) // though a transaction is open
			inForce(t, live, "a")
			end(tt.try)
			write(t, c, record("destination/d", second))
			inForce(t, live, tt.want...)
		})
	}
}

func TestFollowerKeepsTheLastGoodRecord(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	apply(t, publisher(t, c), wstest.Of("a"))
	f, live, out := following(t, c.Options())
	ready(t, f)
	write(t, c,
		record("destination/a", `{"type":"webhooks","sharedSecret":"`+wstest.Canary+`","endpoints":[{"url":"http://u:`+wstest.Canary+`@"}]}`),
		record("Audience/"+wstest.Canary, ""),
		record("destination/b", `{"type":"webhooks","endpoints":[{"url":"http://b"}]}`))
	inForce(t, live, "a", "b")
	if a, _ := live.Load().Destination("a"); a.Endpoints[0].URL != "https://a.example.com/" {
		t.Errorf("the endpoint in force is %s", a.Endpoints[0])
	}
	if n := out.Count("record skipped"); n != 2 {
		t.Errorf("%d records logged as skipped", n)
	}
	if !strings.Contains(out.String(), `\"a\": endpoints[0]: expected an http or https URL with a host`) {
		t.Errorf("the reason is not logged:\n%s", out)
	}
	if got := testutil.ToFloat64(f.metrics.unreadable); got != 2 {
		t.Errorf("counted %v unreadable records", got)
	}
	testkit.Counted(t, f.metrics.destinations, 2)
}

func TestFollowerPastTheLastMarker(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	apply(t, publisher(t, c), wstest.Of("a"))
	c.EndLater(schemas.TopicWorkspace, 5)
	f, live, _ := following(t, c.Options())
	ready(t, f)
	inForce(t, live, "a")
}

// TestFollowerThroughAnOutage breaks every connection that fetches, for a while.
func TestFollowerThroughAnOutage(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	p := publisher(t, c)
	apply(t, p, wstest.Of("a"))
	f, live, _ := following(t, c.Options())
	ready(t, f)

	var gone atomic.Bool
	refused := make(chan struct{}, 1)
	gone.Store(true)
	c.Fake.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.Fake.KeepControl()
		if !gone.Load() {
			return nil, nil, false
		}
		select {
		case refused <- struct{}{}:
		default:
		}
		return nil, errors.New("the broker is gone"), true
	})
	for range 3 {
		<-refused
	}
	if err := f.Ready(); err != nil {
		t.Errorf("Ready during an outage: %v", err)
	}
	inForce(t, live, "a")
	write(t, c, record("destination/b", `{"type":"webhooks","endpoints":[{"url":"http://b"}]}`))
	gone.Store(false)
	inForce(t, live, "a", "b")
}

// TestFollowerWithoutABroker is in virtual time: what is logged, and when.
func TestFollowerWithoutABroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("nobody there") }
		f, _, out := following(t, []kgo.Opt{kgo.SeedBrokers("kafka:9092"), kgo.Dialer(dial)})
		virtual.Sleep(5 * time.Second)
		if n := out.Count("nobody there"); n != 1 {
			t.Errorf("after 5 s logged %d times:\n%s", n, out)
		}
		virtual.Sleep(time.Minute)
		if n := out.Count("nobody there"); n < 5 || n > 8 {
			t.Errorf("after a minute logged %d times:\n%s", n, out)
		}
		if err := f.Ready(); err == nil {
			t.Error("ready without a broker")
		}
	})
}

func TestFollowerWithUnusableOptions(t *testing.T) {
	t.Parallel()
	f := NewFollower(FollowerSettings{
		Logger: new(testkit.Logs).Logger(), Registerer: prometheus.NewRegistry(), Live: workspace.NewLive(workspace.NewSnapshot(nil, nil)),
		Kafka: []kgo.Opt{kgo.SeedBrokers()},
	})
	if err := f.Run(t.Context()); err == nil {
		t.Error("no error")
	}
}

func TestFollowerNames(t *testing.T) {
	t.Parallel()
	set := FollowerSettings{Registerer: prometheus.NewRegistry()}
	f := NewFollower(set)
	if got := f.Name() + " " + NewRegulationsFollower(set, f).Name(); got != "workspace regulations" {
		t.Errorf("%q", got)
	}
}
