package archive

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestAnOpenTransactionLeavesAnArchiveUnready: it has read all it may, and the log goes on.
func TestAnOpenTransactionLeavesAnArchiveUnready(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := cold("cold", t.TempDir(), 1<<20)
		b := newBench(t, testkit.Virtual(t), 1, d)
		m := b.make()
		testkit.Start(t, m.Run)
		b.produce(d.Topic(), 1, 1)
		hangs := b.cluster.Client(t, kgo.TransactionalID("hangs"), kgo.TransactionTimeout(15*time.Minute), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		if err := hangs.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := hangs.ProduceSync(t.Context(), b.event(d.Topic(), 0)).FirstErr(); err != nil {
			t.Fatal(err)
		}
		b.produce(d.Topic(), 1, 1)
		virtual.Sleep(4 * time.Minute)
		if err := m.Ready(); err == nil || !strings.Contains(err.Error(), d.Topic()+"[0] has stood at offset 1") || !strings.Contains(err.Error(), "transaction") {
			t.Errorf("ready: %v, want a word on the partition and the transaction", err)
		}
		if err := hangs.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
			t.Fatal(err)
		}
		virtual.Sleep(2 * time.Minute)
		if err := m.Ready(); err != nil || !b.done(d.Topic()) {
			t.Errorf("ready: %v, all archived: %t, though the transaction is over", err, b.done(d.Topic()))
		}
	})
}

// TestAStoreDoesNotMakeAnArchiveUnready, however long it is away: its events wait.
func TestAStoreDoesNotMakeAnArchiveUnready(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := cold("cold", "/dev/null/nowhere", 1<<20)
		b := newBench(t, testkit.Virtual(t), 1, d)
		m := b.make()
		testkit.Start(t, m.Run)
		b.produce(d.Topic(), 1, 10)
		virtual.Sleep(4 * time.Minute)
		b.produce(d.Topic(), 1, 10)
		virtual.Sleep(4 * time.Minute)
		if err := m.Ready(); err != nil || b.done(d.Topic()) {
			t.Errorf("ready: %v, all archived: %t", err, b.done(d.Topic()))
		}
	})
}
