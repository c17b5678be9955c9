package runner

import (
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestATransactionThatDoesNotEnd: its marker waits for a partition without a leader,
// and its transactional id with it.
func TestATransactionThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, r := virtually(t)
		b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.InitProducerID}, TxnID: r.set.TransactionalID, Err: kerr.ConcurrentTransactions, Count: -1})
		b.Fake.ControlKey(kmsg.DescribeTransactions.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
			b.Fake.KeepControl()
			return preparing(req.(*kmsg.DescribeTransactionsRequest), crm), nil, true
		})
		start(t, r)
		b.send(t, users(20)...)
		b.ReadAll(t, lake, 20)
		b.ReadAll(t, crm, 20)
		if r.logs.Count(`going on as`) != 1 {
			t.Errorf("the log does not say once that another id is used:\n%s", r.logs)
		}
	})
}

func preparing(req *kmsg.DescribeTransactionsRequest, topic string) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.DescribeTransactionsResponse)
	for _, id := range req.TransactionalIDs {
		state := kmsg.NewDescribeTransactionsResponseTransactionState()
		state.TransactionalID, state.State = id, "PrepareAbort"
		held := kmsg.NewDescribeTransactionsResponseTransactionStateTopic()
		held.Topic, held.Partitions = topic, []int32{0}
		state.Topics = append(state.Topics, held)
		resp.TransactionStates = append(resp.TransactionStates, state)
	}
	return resp
}
