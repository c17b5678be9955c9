package txn

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

const id = "anabranch-test-writer"

var topic = schemas.DeliverTopic("crm")

func open(t *testing.T, c *testkit.Cluster) *Writer {
	t.Helper()
	w, err := Open(t.Context(), id, 10*time.Second, c.Options()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func records(values ...string) []*kgo.Record {
	all := make([]*kgo.Record, len(values))
	for i, value := range values {
		all[i] = &kgo.Record{Topic: topic, Key: []byte("u"), Value: []byte(value)}
	}
	return all
}

func TestAllOrNothing(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	c.CreateTopics(t, 1, topic)
	w := open(t, c)
	if err := w.Write(t.Context(), records("a"), records("b", "c")); err != nil {
		t.Fatal(err)
	}
	overtaken := errors.New("overtaken")
	last := records("d", "e")
	err := w.WriteIf(t.Context(), func(context.Context) error {
		if last[0].Offset == 0 {
			t.Error("the last word comes before the offsets are known")
		}
		return overtaken
	}, last)
	if !errors.Is(err, overtaken) {
		t.Errorf("the last word was no: %v", err)
	}
	if err := w.Write(t.Context(), records("f")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, rec := range c.ReadAll(t, topic, 4) {
		got = append(got, string(rec.Value))
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "f"}, got); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

func TestAPredecessorIsFenced(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	c.CreateTopics(t, 1, topic)
	first := open(t, c)
	if err := first.Client().BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := first.Client().ProduceSync(t.Context(), records("never committed")...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	second := open(t, c)
	if err := second.Write(t.Context(), records("b")); err != nil {
		t.Fatal(err)
	}
	if err := first.Client().EndTransaction(t.Context(), kgo.TryCommit); !kafka.Fenced(err) {
		t.Errorf("the first one committed: %v", err)
	}
	c.ReadAll(t, topic, 1)
}

// TestAPredecessorThatBrokersDidNotEnd: brokers say that a transaction is complete, and
// never ended it where its record is. Whoever opens the next writer of the id has what was
// decided written there, before its own first transaction decides otherwise.
func TestAPredecessorThatBrokersDidNotEnd(t *testing.T) {
	t.Parallel()
	no := errors.New("no")
	for state, c := range map[string]struct {
		next error // of the first transaction of the next writer
		want []string
	}{
		"CompleteCommit": {no, []string{"decided"}},
		"CompleteAbort":  {nil, []string{"next"}},
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			fake := testkit.Fake(t, kfake.NumBrokers(1))
			fake.CreateTopics(t, 2, topic)
			at := forgotten(t, fake, state)
			w := open(t, fake)
			next := &kgo.Record{Topic: topic, Key: []byte("w"), Value: []byte("next")}
			if err := w.WriteIf(t.Context(), func(context.Context) error { return c.next }, []*kgo.Record{next}); !errors.Is(err, c.next) {
				t.Fatal(err)
			}
			if next.Partition == at {
				t.Fatal("the fake would take it for the same record: expected another partition")
			}
			var got []string
			for _, rec := range fake.ReadAll(t, topic, len(c.want)) {
				got = append(got, string(rec.Value))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("to be read (-want +got):\n%s", diff)
			}
		})
	}
}

// forgotten leaves a transaction open on a partition of the topic, of which its coordinator
// says that it is complete.
func forgotten(t *testing.T, c *testkit.Cluster, state string) (partition int32) {
	t.Helper()
	first := open(t, c)
	if err := first.Client().BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	decided, err := first.Client().ProduceSync(t.Context(), records("decided")...).First()
	if err != nil {
		t.Fatal(err)
	}
	producer, epoch, err := first.Client().ProducerID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Fake.ControlKey(kmsg.DescribeTransactions.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		resp, of := req.ResponseKind().(*kmsg.DescribeTransactionsResponse), kmsg.NewDescribeTransactionsResponseTransactionState()
		of.TransactionalID, of.State, of.ProducerID, of.ProducerEpoch = id, state, producer, epoch
		resp.TransactionStates = append(resp.TransactionStates, of)
		return resp, nil, true
	})
	c.Fake.ControlKey(kmsg.InitProducerID.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		resp := req.ResponseKind().(*kmsg.InitProducerIDResponse)
		resp.ProducerID, resp.ProducerEpoch = producer, epoch
		return resp, nil, true
	})
	return decided.Partition
}

// TestAWriterGoesOnBehindARefusal for a size, of whichever kind.
func TestAWriterGoesOnBehindARefusal(t *testing.T) {
	t.Parallel()
	for _, code := range []*kerr.Error{kerr.MessageTooLarge, kerr.RecordListTooLarge} {
		t.Run(code.Message, func(t *testing.T) {
			t.Parallel()
			c := testkit.Fake(t, kfake.NumBrokers(1))
			c.CreateTopics(t, 1, topic)
			w := open(t, c)
			c.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Err: code})
			err := w.Write(t.Context(), records("large"))
			if refused, ok := errors.AsType[*RecordError](err); !kafka.TooLarge(err) || !ok || string(refused.Record.Value) != "large" {
				t.Errorf("refused with %v", err)
			}
			if err := w.Write(t.Context(), records("small")); err != nil {
				t.Error(err)
			}
			c.ReadAll(t, topic, 1)
		})
	}
}

// TestAStopDoesNotCutTheCommit, unless it takes long.
func TestAStopDoesNotCutTheCommit(t *testing.T) {
	for name, test := range map[string]struct {
		takes time.Duration
		want  error
	}{
		"a moment":                 {commitGrace / 2, nil},
		"longer than one can wait": {time.Minute, ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := testkit.Virtual(t, kfake.SleepOutOfOrder())
				c.CreateTopics(t, 1, topic)
				w := open(t, c)
				ctx, stop := context.WithCancel(t.Context())
				c.Fake.ControlKey(kmsg.EndTxn.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
					stop()
					c.Fake.SleepControl(func() { virtual.Sleep(test.takes) })
					return nil, nil, false
				})
				if err := w.Write(ctx, records("a")); !errors.Is(err, test.want) {
					t.Errorf("written: %v, want %v", err, test.want)
				}
				virtual.Sleep(test.takes) // what the broker does ends with the test
			})
		})
	}
}
