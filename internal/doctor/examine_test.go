package doctor

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/anabranch/anabranch/ingest"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/router"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	webhooksink "github.com/anabranch/anabranch/webhook-sink"
)

// stages are those of the product.
func stages() pipeline.Stages {
	return pipeline.List{ingest.Stage, router.Stage, webhooksink.Stage}.Make()
}

// clinic is a cluster with what is needed for an examination.
func clinic(t *testing.T, cluster *testkit.Cluster) Settings {
	t.Helper()
	config := policy.Config{Partitions: 1, DeliverPartitions: 1, Replication: -1, RawRetention: 48 * time.Hour}
	snapshot := workspace.NewSnapshot([]workspace.Source{source("web", true)}, []workspace.Destination{destination("crm", true, []string{"web"}, "http://127.0.0.1:9/")})
	all := stages()
	permitting(all, func(netip.AddrPort) error { return nil })
	return Settings{
		Kafka: cluster.Options(), Topics: topics.New(cluster.Client(t), config), Brokers: cluster.Addrs, Variable: "KAFKA_BROKERS",
		Stages: all, Roles: all.Roles(),
		Workspace:    func(context.Context) (*workspace.Snapshot, bool, error) { return snapshot, true, nil },
		Suppressions: func(context.Context) (map[string]int, error) { return nil, nil },
	}
}

// permitting has the sink permit what a guard permits, and retry after a minute.
func permitting(all pipeline.Stages, guard func(netip.AddrPort) error) {
	all[2].Facts = func() pipeline.Facts {
		return pipeline.Facts{
			Topics: []string{schemas.RetryTopic(time.Minute)}, Attempts: 1,
			Permit: func(...netip.AddrPort) func(netip.AddrPort) error { return guard },
		}
	}
}

// of returns the findings of a check that are not ok.
func (d *Diagnosis) of(check Check) (bad []Finding, all int) {
	for _, f := range d.Findings {
		if f.Check == check {
			all++
			if f.Level != OK {
				bad = append(bad, f)
			}
		}
	}
	return bad, all
}

func TestExamine(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	set := clinic(t, cluster)
	set.Data = t.TempDir()
	set.Unknown = map[string]string{"INGEST_ADR": "INGEST_ADDR"}

	var first *Diagnosis
	testkit.Until(t, func() bool { // a new cluster has no coordinator of groups for a while
		first = Examine(t.Context(), set)
		bad, _ := first.of(CheckGroups)
		return len(bad) == 2 && strings.Contains(bad[0].Found, "no router runs")
	}, "both groups to be found empty")
	if bad, _ := first.of(CheckTopics); len(bad) != 1 || !strings.Contains(bad[0].Found, "not there: dead-letters, deliver.crm, journal, raw-events, regulations, replays, router-seen, webhook-retry.1m and 1 more") {
		t.Errorf("topics of a new cluster: %+v", bad)
	}
	if err := set.Topics.Ensure(t.Context(), schemas.TopicRawEvents, schemas.TopicDeadLetters, schemas.TopicSeen, schemas.TopicJournal, schemas.TopicWorkspace, schemas.TopicRegulations, schemas.TopicReplays, schemas.DeliverTopic("crm"), schemas.RetryTopic(time.Minute)); err != nil {
		t.Fatal(err)
	}
	cluster.Client(t, kgo.ConsumerGroup(router.Group), kgo.ConsumeTopics(schemas.TopicRawEvents))
	future := &kgo.Record{Topic: schemas.TopicRawEvents, Timestamp: time.Now().Add(time.Hour)}
	if err := cluster.Client(t).ProduceSync(t.Context(), future).FirstErr(); err != nil {
		t.Fatal(err)
	}
	var second *Diagnosis
	testkit.Until(t, func() bool {
		second = Examine(t.Context(), set)
		bad, _ := second.of(CheckGroups)
		return len(bad) == 1 && strings.Contains(bad[0].Found, "no webhook-sink runs")
	}, "the router's group to be found at work")
	for _, check := range []Check{CheckBrokers, CheckVersions, CheckPermissions, CheckTopics, CheckData, CheckWorkspace} {
		if bad, all := second.of(check); len(bad) > 0 || all == 0 {
			t.Errorf("%s: %d findings, of which not ok: %+v", check, all, bad)
		}
	}
	// A real broker puts its own time on the event.
	if bad, _ := second.of(CheckClock); cluster.Fake != nil && (len(bad) == 0 || !strings.Contains(bad[0].Found, "in the future")) {
		t.Errorf("clock: %+v", bad)
	}
	if bad, _ := second.of(CheckSettings); len(bad) != 1 {
		t.Errorf("settings: %+v", bad)
	}
}

// Local checks are made all the same, and nothing hangs.
func TestBrokersThatAreAway(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	set := Settings{Brokers: []string{addr}, Variable: "KAFKA_BROKERS", Workspace: func(context.Context) (*workspace.Snapshot, bool, error) {
		t.Error("the workspace was read")
		return nil, false, nil
	}}
	d := Examine(t.Context(), set)
	if bad, all := d.of(CheckBrokers); len(bad) != 1 || all != 1 || bad[0].Level != Problem || bad[0].About != addr {
		t.Errorf("brokers: %+v", bad)
	}
	for check, want := range map[Check]int{CheckFiles: 1, CheckMemory: 1, CheckVersions: 0, CheckTopics: 0} {
		if _, all := d.of(check); all < want || want == 0 && all > 0 {
			t.Errorf("%s: %d findings", check, all)
		}
	}
}

// The classic: the first answer comes, and names an address that is not ours to
// reach.
func TestAnAddressThatOnlyTheBrokerKnows(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t, kfake.NumBrokers(2))
	behind := cluster.Fake.ListenAddrs()[1]
	opts := append(cluster.Options(), kgo.Dialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr == behind {
			return nil, errors.New("no route to host")
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}))
	got := judgeBrokers(lookAtBrokers(t.Context(), opts, []string{cluster.Fake.ListenAddrs()[0]}), "KAFKA_BROKERS")
	expect(t, got, Problem, "advertises "+behind+"|no route to host|advertised.listeners")
}

func TestBrokersThatAreTooOld(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t, kfake.NumBrokers(1), kfake.MaxVersions(kversion.V2_2_0()))
	seeds := lookAtBrokers(t.Context(), cluster.Options(), cluster.Addrs)
	expect(t, judgeVersions(known(seeds)), Problem, "it lacks static members|transactions that a rebalance fences")
}

func TestAWorkspaceThatCannotBeRead(t *testing.T) {
	t.Parallel()
	set := clinic(t, testkit.Brokers(t))
	set.Workspace = func(context.Context) (*workspace.Snapshot, bool, error) { return nil, false, errors.New("cut off") }
	d := Examine(t.Context(), set)
	if bad, _ := d.of(CheckWorkspace); len(bad) != 1 || bad[0].Level != Problem || !strings.Contains(bad[0].Found, "cut off") {
		t.Errorf("workspace: %+v", bad)
	}
	if _, all := d.of(CheckTopics); all == 0 {
		t.Error("and so topics were not looked at")
	}
}

// A group between two generations is looked at again before it is called stuck.
func TestAGroupThatSettles(t *testing.T) {
	t.Parallel()
	set := clinic(t, testkit.Brokers(t))
	groups, err := lookAtGroups(t.Context(), set.Topics, set.Stages.Grouped())
	if err != nil || len(groups) != 2 || groups[0].stage != "router" || !groups[0].settled {
		t.Errorf("groups %+v, error %v", groups, err)
	}
}

// TestANewClusterHasNoCoordinatorAtFirst: that is waited for, and is no finding.
func TestANewClusterHasNoCoordinatorAtFirst(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t)
	var asked atomic.Int32
	cluster.Fake.ControlKey(int16(kmsg.FindCoordinator), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.Fake.KeepControl()
		if asked.Add(1) > 3 {
			return nil, nil, false
		}
		find := req.(*kmsg.FindCoordinatorRequest)
		resp := find.ResponseKind().(*kmsg.FindCoordinatorResponse)
		for _, key := range append(find.CoordinatorKeys, find.CoordinatorKey) {
			c := kmsg.NewFindCoordinatorResponseCoordinator()
			c.Key, c.NodeID, c.ErrorCode = key, -1, kerr.CoordinatorNotAvailable.Code
			resp.Coordinators = append(resp.Coordinators, c)
		}
		resp.ErrorCode = kerr.CoordinatorNotAvailable.Code
		return resp, nil, true
	})
	d := Examine(t.Context(), clinic(t, cluster))
	for _, f := range d.Findings {
		if strings.Contains(f.Found, "COORDINATOR") {
			t.Errorf("found %+v", f)
		}
	}
	if asked.Load() <= 3 {
		t.Errorf("the coordinator was asked for %d times, want more than it was away", asked.Load())
	}
}

// TestTheExampleMayReachItsReceiver: `anabranch run` permits its own receiver, which is
// the only endpoint of a workspace that nobody has applied.
func TestTheExampleMayReachItsReceiver(t *testing.T) {
	t.Parallel()
	set := clinic(t, testkit.Fake(t))
	permitting(set.Stages, func(netip.AddrPort) error { return errors.New("not public") })
	snapshot, _, _ := set.Workspace(t.Context())
	for applied, want := range map[bool]int{true: 1, false: 0} {
		set.Workspace = func(context.Context) (*workspace.Snapshot, bool, error) { return snapshot, applied, nil }
		if bad, _ := Examine(t.Context(), set).of(CheckWorkspace); len(bad) != want {
			t.Errorf("applied: %t: found %+v, want %d", applied, bad, want)
		}
	}
}
