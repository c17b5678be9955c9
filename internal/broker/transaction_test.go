package broker

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// transaction begins a transaction, produces to the topic events in it and leaves it open.
func transaction(t *testing.T, b *Broker, id string, timeout time.Duration, values ...string) *kgo.Client {
	t.Helper()
	cl := client(t, b, kgo.TransactionalID(id), kgo.TransactionTimeout(timeout))
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	produce(t, cl, "events", values...)
	return cl
}

func end(t *testing.T, cl *kgo.Client, how kgo.TransactionEndTry) {
	t.Helper()
	if err := cl.EndTransaction(within(t), how); err != nil {
		t.Fatal(err)
	}
}

// A producer that died with its broker must not hold readers back, and what it left must never be read.
func TestKillAbortsOpenTransactions(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "events", 1)
	end(t, transaction(t, b, "router-1", time.Minute, "committed"), kgo.TryCommit)
	end(t, transaction(t, b, "router-2", time.Minute, "aborted"), kgo.TryAbort)
	transaction(t, b, "router-3", time.Minute, "open")

	b = open(t, killed(t, dir))
	began := time.Now()
	end(t, transaction(t, b, "router-4", time.Minute, "after"), kgo.TryCommit)
	got := readUntil(t, b, "events", "after")
	if diff := cmp.Diff([]string{"committed", "after"}, got); diff != "" {
		t.Errorf("committed records (-want +got):\n%s", diff)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("readers waited %v, want far less than the transaction's timeout of a minute", took)
	}
}

// The producer may live in another process and come back, so the transaction is restored; it has its timeout to do so.
func TestCleanStopRestoresOpenTransactionsUntilTheyTimeOut(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "events", 1)
	transaction(t, b, "router-1", time.Second, "open")
	closed(t, b)

	b = open(t, dir)
	produce(t, client(t, b), "events", "after")
	if diff := cmp.Diff([]string{"after"}, readUntil(t, b, "events", "after")); diff != "" {
		t.Errorf("committed records (-want +got):\n%s", diff)
	}
}

// A clean stop with an open transaction, a start, and a kill before anything was written.
func TestKillAfterCleanStopAbortsOpenTransactions(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "events", 1)
	transaction(t, b, "router-1", time.Minute, "open")
	closed(t, b)
	open(t, dir)

	b = open(t, killed(t, dir))
	end(t, transaction(t, b, "router-2", time.Minute, "after"), kgo.TryCommit)
	if diff := cmp.Diff([]string{"after"}, readUntil(t, b, "events", "after")); diff != "" {
		t.Errorf("committed records (-want +got):\n%s", diff)
	}
}

// Offsets that were committed inside a transaction come back with it.
func TestKillKeepsOffsetsOfTransactions(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "raw", 1)
	create(t, b, "routed", 1)
	produce(t, client(t, b), "raw", "one", "two")
	session, err := kgo.NewGroupTransactSession(kgo.SeedBrokers(b.Addr()), authenticated(b), kgo.TransactionalID("router-"+b.BootID()), kgo.ConsumerGroup(group),
		kgo.ConsumeTopics("raw"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for read := 0; read < 2; {
		fetches := session.PollFetches(within(t))
		if err := session.Begin(); err != nil {
			t.Fatal(err)
		}
		for _, record := range fetches.Records() {
			session.Produce(within(t), &kgo.Record{Topic: "routed", Value: record.Value}, nil)
			read++
		}
		if done, err := session.End(within(t), kgo.TryCommit); !done || err != nil {
			t.Fatalf("End = %t, %v", done, err)
		}
	}

	b = open(t, killed(t, dir))
	if got := committed(t, b, "raw"); got != 2 {
		t.Errorf("committed offset after the kill = %d, want 2", got)
	}
	if diff := cmp.Diff([]string{"one", "two"}, readUntil(t, b, "routed", "two")); diff != "" {
		t.Errorf("routed records (-want +got):\n%s", diff)
	}
}
