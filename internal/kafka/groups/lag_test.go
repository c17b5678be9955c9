package groups

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

const lagGroup = "anabranch-lag"

func TestLag(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	cl := cluster.Client(t)
	crm, mail := schemas.DeliverTopic("crm"), schemas.DeliverTopic("mail")
	cluster.CreateTopics(t, 2, crm, mail)
	cluster.Fill(t, crm, 0, 3)
	cluster.Fill(t, crm, 1, 1)
	check := func(want map[string]map[int32]Lag, names ...string) {
		t.Helper()
		got, err := Lags(t.Context(), cl, lagGroup, names...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lag of %v (-want +got):\n%s", names, diff)
		}
	}
	check(map[string]map[int32]Lag{})
	check(map[string]map[int32]Lag{}, schemas.DeliverTopic("gone"))
	check(map[string]map[int32]Lag{crm: {0: {End: 3}, 1: {End: 1}}}, crm)

	var offsets kadm.Offsets
	offsets.Add(kadm.Offset{Topic: crm, Partition: 0, At: 2, Metadata: "done: all"})
	if err := kadm.NewClient(cl).CommitAllOffsets(t.Context(), lagGroup, offsets); err != nil {
		t.Fatal(err)
	}
	check(map[string]map[int32]Lag{crm: {0: {Committed: 2, End: 3, Metadata: "done: all"}, 1: {End: 1}}, mail: {0: {}, 1: {}}}, mail, crm, crm)
}

// Transactions leave a marker behind the last record, for which nobody waits.
func TestLagSeesWhatIsCommitted(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	crm := schemas.DeliverTopic("crm")
	cluster.CreateTopics(t, 1, crm)
	cl := cluster.Client(t, kgo.TransactionalID("lag"), kgo.DefaultProduceTopic(crm))
	write := func() {
		t.Helper()
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := cl.ProduceSync(t.Context(), kgo.StringRecord("event")).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	write()
	if err := cl.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	write() // and leave it open
	lags, err := Lags(t.Context(), cluster.Client(t), lagGroup, crm)
	if want := (Lag{End: 2}); err != nil || lags[crm][0] != want {
		t.Errorf("lag %v, error %v, want %v: the event and the marker, without the open transaction", lags, err, want)
	}
	if err := cl.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
}

func TestLagOf(t *testing.T) {
	t.Parallel()
	at := func(offset int64) kadm.OffsetResponse {
		return kadm.OffsetResponse{Offset: kadm.Offset{Topic: "t", At: offset, Metadata: "m"}}
	}
	for name, c := range map[string]struct {
		commit     kadm.OffsetResponse
		start, end int64
		want       Lag
	}{
		"none":                 {kadm.OffsetResponse{}, 5, 9, Lag{Committed: 5, End: 9}},
		"none, as -1":          {at(-1), 5, 9, Lag{Committed: 5, End: 9}},
		"within":               {at(7), 5, 9, Lag{Committed: 7, End: 9, Metadata: "m"}},
		"at the end":           {at(9), 5, 9, Lag{Committed: 9, End: 9, Metadata: "m"}},
		"retention was faster": {at(3), 5, 9, Lag{Committed: 5, End: 9, Deleted: 2}},
		"of an older topic":    {at(10), 0, 9, Lag{Committed: 0, End: 9}},
		"open transaction":     {kadm.OffsetResponse{}, 9, 5, Lag{Committed: 5, End: 5}},
	} {
		if got := lagOf(c.commit, c.start, c.end); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A cluster that has never had a group makes the topic of offsets when it is first
// asked for one.
func TestLagWaitsForTheFirstCoordinator(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t)
	crm := schemas.DeliverTopic("crm")
	cluster.CreateTopics(t, 1, crm)
	cl := cluster.Client(t, kgo.RequestRetries(0))
	refusals := cluster.RefuseCoordinator(2)
	got, err := Lags(t.Context(), cl, lagGroup, crm)
	if err != nil || len(got[crm]) != 1 || refusals.Load() != 0 {
		t.Errorf("lag %v, error %v, %d refusals left", got, err, refusals.Load())
	}
}
