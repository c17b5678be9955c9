package testkit

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// transact produces one record per value to raw-events in one transaction and
// ends it.
func transact(t *testing.T, c *Cluster, end kgo.TransactionEndTry, values ...string) {
	t.Helper()
	cl := c.Client(t, kgo.TransactionalID(t.Name()+strings.Join(values, "")), kgo.DefaultProduceTopic("raw-events"))
	if err := cl.BeginTransaction(); err != nil {
		t.Fatalf("begin: %v", err)
	}
	for _, value := range values {
		if err := cl.ProduceSync(t.Context(), kgo.StringRecord(value)).FirstErr(); err != nil {
			t.Fatalf("produce %q: %v", value, err)
		}
	}
	if err := cl.EndTransaction(t.Context(), end); err != nil {
		t.Fatalf("end: %v", err)
	}
}

func TestReadAllSeesWhatIsCommitted(t *testing.T) {
	c := Brokers(t)
	c.CreateTopics(t, 1, "raw-events")
	transact(t, c, kgo.TryCommit, "a", "b")
	transact(t, c, kgo.TryAbort, "never")
	transact(t, c, kgo.TryCommit, "c")
	var got []string
	for _, record := range c.ReadAll(t, "raw-events", 3) {
		got = append(got, string(record.Value))
	}
	if want := "a b c"; strings.Join(got, " ") != want {
		t.Errorf("read %q, want %q", got, want)
	}
}

func TestReadAllSortsByPartitionAndOffset(t *testing.T) {
	c := Brokers(t)
	c.CreateTopics(t, 3, "raw-events")
	cl := c.Client(t, kgo.DefaultProduceTopic("raw-events"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for i := range 30 {
		record := &kgo.Record{Partition: int32(2 - i%3), Value: []byte("x")}
		if err := cl.ProduceSync(t.Context(), record).FirstErr(); err != nil {
			t.Fatalf("produce: %v", err)
		}
	}
	for i, record := range c.ReadAll(t, "raw-events", 30) {
		if record.Partition != int32(i/10) || record.Offset != int64(i%10) {
			t.Errorf("record %d is [%d]@%d, want [%d]@%d", i, record.Partition, record.Offset, i/10, i%10)
		}
	}
}

func TestReadAllFailsOnADuplicate(t *testing.T) {
	c := Brokers(t)
	c.CreateTopics(t, 1, "raw-events")
	transact(t, c, kgo.TryCommit, "a", "a")
	for n, want := range []string{
		"fatal: read raw-events: it holds 2 records, want 0", // which takes reading to the end
		"fatal: read raw-events: it holds 2 records, want 1",
	} {
		if got := verdictOf(t, func(tb *spy) { c.ReadAll(tb, "raw-events", n) }); got != want {
			t.Errorf("verdict %q, want %q", got, want)
		}
	}
}

func TestReadAllOfAMissingTopicIsEmpty(t *testing.T) {
	if got := Brokers(t).ReadAll(t, "dead-letters", 0); len(got) != 0 {
		t.Errorf("read %d records, want none", len(got))
	}
}

func TestVirtualTimePassesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Virtual(t)
		c.CreateTopics(t, 1, "raw-events")
		transact(t, c, kgo.TryCommit, "a")
		start := time.Now()
		<-time.After(4 * time.Hour)
		record := c.ReadAll(t, "raw-events", 1)[0]
		if age := time.Since(record.Timestamp); age < 4*time.Hour || time.Since(start) > 5*time.Hour {
			t.Errorf("the record is %v old after four hours", age)
		}
	})
}

func TestFakeAndVirtualSkipOnARealBroker(t *testing.T) {
	t.Setenv("KAFKA_BROKERS", "127.0.0.1:1")
	for name, start := range map[string]func(tb *spy){
		"Fake":    func(tb *spy) { Fake(tb) },
		"Virtual": func(tb *spy) { Virtual(tb) },
	} {
		if got := verdictOf(t, start); !strings.HasPrefix(got, "skip: ") {
			t.Errorf("%s: verdict %q, want a skip", name, got)
		}
	}
}

func TestAnUnknownKindOfBrokerIsAnError(t *testing.T) {
	t.Setenv("KAFKA_BROKERS", "")
	t.Setenv("ANABRANCH_TEST_BROKER", "rabbit")
	got := verdictOf(t, func(tb *spy) { Brokers(tb) })
	if want := "fatal: ANABRANCH_TEST_BROKER=rabbit: expected redpanda, or nothing for the in-process broker"; got != want {
		t.Errorf("verdict %q, want %q", got, want)
	}
}

func TestKafkaBrokersMayNameSeveral(t *testing.T) {
	t.Setenv("KAFKA_BROKERS", "a:1,b:2")
	if got := realBrokers(t); strings.Join(got, " ") != "a:1 b:2" {
		t.Errorf("brokers %q, want a:1 and b:2", got)
	}
	if os.Unsetenv("KAFKA_BROKERS"); len(realBrokers(t)) != 0 && os.Getenv("ANABRANCH_TEST_BROKER") == "" {
		t.Error("a real broker without being asked for one")
	}
}
