package docstest

import (
	"context"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

const exportsPage = "docs/topic-destinations.md"

// TestTheGoReaderIsTheTestedOne: the page has the very code of follow.
func TestTheGoReaderIsTheTestedOne(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(read(t, "test/docstest/example_reader_test.go"), "// sample:begin\n\n")
	code, _, found := strings.Cut(rest, "\n// sample:end\n")
	if sample := section(t, exportsPage, "A reader in Go").blocks("go"); !found || len(sample) != 1 || sample[0] != code {
		t.Errorf("%s has\n%s\nwhat is tested is\n%s", exportsPage, sample, code)
	}
}

// TestTheGoReaderReadsWhatWasCommitted, once, and begins where its group ended.
func TestTheGoReaderReadsWhatWasCommitted(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topic := schemas.ExportTopic("warehouse")
	c.CreateTopics(t, 1, topic)
	writer := c.Client(t, kgo.TransactionalID("anabranch-test-writer"))
	var last int64 // offset of the last event
	transact := func(value string, end kgo.TransactionEndTry) {
		t.Helper()
		r := &kgo.Record{Topic: topic, Value: []byte(value)}
		if err := writer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := writer.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := writer.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
		last = r.Offset
	}
	client := c.Client(t)
	loaded := func() string {
		t.Helper()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		got, done := make(chan string), make(chan error, 1)
		go func() {
			done <- follow(ctx, "warehouse", topic, func(records []*kgo.Record) error {
				for _, r := range records {
					select {
					case got <- string(r.Value):
					case <-ctx.Done():
					}
				}
				return nil
			}, c.Options()...)
		}()
		first := <-got
		testkit.Until(t, func() bool {
			lags, err := groups.Lags(t.Context(), client, "warehouse", topic)
			return err == nil && lags[topic][0].Committed > last
		}, "the group to commit what was read")
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		return first
	}
	transact("taken back", kgo.TryAbort)
	transact("first", kgo.TryCommit)
	if got := loaded(); got != "first" {
		t.Errorf("read %q, want the event that was committed", got)
	}
	transact("taken back", kgo.TryAbort)
	transact("second", kgo.TryCommit)
	if got := loaded(); got != "second" {
		t.Errorf("read %q, want the event behind the first", got)
	}
}
