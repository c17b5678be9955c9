package runner

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestAnOpenTransactionIsSeen by a router that has read all it may: it stands, and
// moves when the transaction is over.
func TestAnOpenTransactionIsSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	b.client = b.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	b.some(t, "before", 3)
	r := b.runner(t)
	start(t, r)
	b.passed(t)
	hangs := b.Client(t, kgo.TransactionalID("hangs"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := hangs.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := hangs.ProduceSync(t.Context(), event("u", 1)).FirstErr(); err != nil {
		t.Fatal(err)
	}
	b.some(t, "behind", 2)
	stalled := func() float64 {
		r.lookOnce(t.Context())
		return r.series(t, "stalled")
	}
	testkit.Until(t, func() bool { return stalled() > 0 }, "the partition to stand")
	if err := hangs.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, func() bool { return stalled() == 0 }, "the partition to move")
	b.copiedOnce(t, 5)
}
