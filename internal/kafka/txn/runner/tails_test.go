package runner

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestAnEndThatBrokersDidNotWrite: a transaction was committed, and the brokers were gone
// before they had said so where its records are. The next one of the same producer is
// aborted there, and takes nothing of it along.
func TestAnEndThatBrokersDidNotWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, line := newBench(t, testkit.Virtual(t)), new(restart)
		b.Fake.ControlKey(kmsg.EndTxn.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) { // the first alone
			end, resp := req.(*kmsg.EndTxnRequest), req.ResponseKind().(*kmsg.EndTxnResponse)
			resp.ProducerID, resp.ProducerEpoch = end.ProducerID, end.ProducerEpoch
			return resp, nil, true
		})
		var commits atomic.Int64
		b.Fake.ControlKey(kmsg.TxnOffsetCommit.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
			b.Fake.KeepControl()
			if commits.Add(1) != 2 {
				return nil, nil, false
			}
			return outdated(req.(*kmsg.TxnOffsetCommitRequest)), nil, true
		})
		r := b.runner(t, func(set *Settings) {
			set.TransactionTimeout = time.Minute // the fake does not think that it is complete
			set.Kafka = slices.Concat(set.Kafka, b.Options(), []kgo.Opt{kgo.Dialer(line.dial(b))})
		})
		start(t, r)
		b.send(t, event("u", 1))
		virtual.Sleep(time.Second)
		line.until.Store(time.Now().Add(time.Second).UnixNano())
		virtual.Sleep(5 * time.Second)
		b.send(t, event("u", 2))
		virtual.Sleep(20 * time.Second)
		b.ReadAll(t, crm, 2)
		if r.aborted.Load() != 1 {
			t.Errorf("%d transactions were aborted, want one", r.aborted.Load())
		}
	})
}

// TestAPredecessorThatBrokersDidNotEnd: as above, and the process is killed with the
// brokers. Its successor sees what had been decided, and that it is not written.
func TestAPredecessorThatBrokersDidNotEnd(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]int{"CompleteCommit": 2, "CompleteAbort": 1} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, testkit.Virtual(t))
				cl := b.Client(t, kgo.TransactionalID("anabranch-copier-a"), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.TransactionTimeout(time.Minute))
				if err := cl.BeginTransaction(); err != nil {
					t.Fatal(err)
				}
				if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: crm, Partition: 0}).FirstErr(); err != nil {
					t.Fatal(err)
				}
				id, epoch, err := cl.ProducerID(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				b.Fake.ControlKey(kmsg.DescribeTransactions.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
					resp, of := req.ResponseKind().(*kmsg.DescribeTransactionsResponse), kmsg.NewDescribeTransactionsResponseTransactionState()
					of.TransactionalID, of.State, of.ProducerID, of.ProducerEpoch = "anabranch-copier-a", state, id, epoch
					resp.TransactionStates = append(resp.TransactionStates, of)
					return resp, nil, true
				})
				b.Fake.ControlKey(kmsg.InitProducerID.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
					resp := req.ResponseKind().(*kmsg.InitProducerIDResponse)
					resp.ProducerID, resp.ProducerEpoch = id, epoch
					return resp, nil, true
				})
				r := b.runner(t, func(set *Settings) {
					set.Writes, set.Kafka, set.Start.Value = []string{crm}, slices.Concat(set.Kafka, b.Options()), "first"
				})
				start(t, r)
				virtual.Sleep(5 * time.Second)
				b.send(t, event("u", 1)) // for another partition
				b.ReadAll(t, crm, want)
			})
		})
	}
}

// outdated answers that the group went on without the member.
func outdated(req *kmsg.TxnOffsetCommitRequest) kmsg.Response {
	resp := acceptCommit(req).(*kmsg.TxnOffsetCommitResponse)
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			resp.Topics[i].Partitions[j].ErrorCode = kerr.IllegalGeneration.Code
		}
	}
	return resp
}
