package webhooksink

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// TestAnOpenTransactionLeavesASinkUnready: it has read all it may, and the log goes on.
func TestAnOpenTransactionLeavesASinkUnready(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 2, destination("crm"))
		l := newLedger(time.Millisecond)
		r := p.start(l.attempt).ready()
		p.produce("crm", "k", "before")
		hangs := p.cluster.Client(t, kgo.TransactionalID("hangs"), kgo.TransactionTimeout(15*time.Minute), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		if err := hangs.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := hangs.ProduceSync(t.Context(), event("crm", "k", "hidden", 0)).FirstErr(); err != nil {
			t.Fatal(err)
		}
		p.produce("crm", "k", "behind")
		virtual.Sleep(4 * time.Minute)
		if err := r.sink.Ready(); err == nil || !strings.Contains(err.Error(), "deliver.crm[0] has stood at offset 1") || !strings.Contains(err.Error(), "transaction") {
			t.Errorf("ready: %v, want a word on the partition and the transaction", err)
		}
		if stood := r.seconds("stalled_seconds"); stood < time.Minute {
			t.Errorf("stalled for %v", stood)
		}
		if err := hangs.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
			t.Fatal(err)
		}
		virtual.Sleep(2 * time.Minute)
		if err := r.sink.Ready(); err != nil || r.seconds("stalled_seconds") != 0 {
			t.Errorf("ready: %v, stalled for %v, though the transaction is over", err, r.seconds("stalled_seconds"))
		}
		r.end()
		l.once(t, []string{"before", "behind"})
	})
}

// TestReceiversDoNotMakeASinkUnready, whether they hang or fail, with more waiting for
// them than fits into memory.
func TestReceiversDoNotMakeASinkUnready(t *testing.T) {
	t.Parallel()
	for name, receiver := range map[string]attemptFunc{
		"hangs": func(ctx context.Context, _ *workspace.Destination, _ string) outcome.Outcome {
			select {
			case <-ctx.Done():
				return outcome.Outcome{Verdict: outcome.Abandoned}
			case <-time.After(5 * time.Second):
				return outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonTimeout, Endpoints: []uint64{1}}
			}
		},
		"fails": func(context.Context, *workspace.Destination, string) outcome.Outcome {
			return outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonTimeout, Endpoints: []uint64{1}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlant(t, testkit.Virtual(t), 2, destination("crm"))
				p.route(old(2000, time.Minute))
				r := p.start(receiver).ready()
				for range 40 {
					virtual.Sleep(15 * time.Second)
					if err := r.sink.Ready(); err != nil {
						t.Fatal(err)
					}
				}
				r.end()
			})
		})
	}
}
