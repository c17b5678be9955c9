package changelog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/store"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// bench is a changelog of two partitions, and a store.
type bench struct {
	*testkit.Cluster
	*Restorer

	writer *kgo.Client
	read   int
}

func newBench(t *testing.T) *bench {
	t.Helper()
	c := testkit.Brokers(t)
	c.CreateTopics(t, 2, schemas.TopicPersonasChangelog)
	b := &bench{Cluster: c, writer: c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.TransactionalID("anabranch-personas-test"))}
	b.Restorer = &Restorer{
		Log: slog.New(slog.DiscardHandler), Kafka: c.Options(), Topics: topics.New(c.Client(t), policy.Config{}), Store: store.NewMemory(),
		Due: func(state []byte) (time.Time, error) {
			if string(state) == "broken" {
				return time.Time{}, errors.New("it is broken")
			}
			return time.UnixMilli(int64(len(state))), nil
		},
		Progress: func(read int, _ int64) { b.read += read },
	}
	return b
}

// transact writes the states of users of partition 1 in a transaction, and its Meta.
func (b *bench) transact(t *testing.T, end kgo.TransactionEndTry, m Meta, states map[string]string) {
	t.Helper()
	b.begin(t, m, states)
	if err := b.writer.EndTransaction(t.Context(), end); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) begin(t *testing.T, m Meta, states map[string]string) {
	t.Helper()
	if err := b.writer.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	var records []*kgo.Record
	for user, state := range states {
		records = append(records, User(1, user, []byte(state)))
	}
	if err := b.writer.ProduceSync(t.Context(), append(records, m.Record(1))...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// holds checks what the store has of partition 1, and how far that is.
func (b *bench) holds(t *testing.T, want Meta, states map[string]string) {
	t.Helper()
	all, err := b.Restore(t.Context(), []int32{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, all[1].Meta); diff != "" {
		t.Errorf("how far it is (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Meta{}, all[0].Meta); diff != "" {
		t.Errorf("a partition without records (-want +got):\n%s", diff)
	}
	got := make(map[string]string)
	err = b.Store.Scan(1, nil, func(user, record []byte) bool {
		got[string(user)] = string(record)
		return true
	})
	if diff := cmp.Diff(states, got); err != nil || diff != "" {
		t.Errorf("users, %v (-want +got):\n%s", err, diff)
	}
	for user, state := range states {
		timers, err := b.Store.Due(1, store.Timer{}, time.UnixMilli(int64(len(state))), 1000)
		found := false
		for _, timer := range timers {
			found = found || string(timer.User) == user
		}
		if err != nil || !found {
			t.Errorf("%s has no timer: %v", user, err)
		}
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.holds(t, Meta{}, map[string]string{})
	first := Meta{Raw: 7, Internal: 3, Time: 9, Catalogue: "c", Leaves: []engine.LeafID{1, 1 << 63}}
	b.transact(t, kgo.TryCommit, first, map[string]string{"a": "1", "b": "22"})
	b.transact(t, kgo.TryAbort, Meta{Raw: 99}, map[string]string{"a": "no", "z": "no"})
	b.holds(t, first, map[string]string{"a": "1", "b": "22"})

	b.read = 0
	second := Meta{Raw: 8, Sweep: &Sweep{From: []byte{0, 255}}, Fills: []Fill{{Leaves: []engine.LeafID{5}, From: -1, Next: -1, Cut: 8}}}
	b.transact(t, kgo.TryCommit, second, map[string]string{"b": "333", "c": ""})
	want := map[string]string{"a": "1", "b": "333", "c": ""}
	b.holds(t, second, want)
	if b.read != 3 {
		t.Errorf("%d records were read, want those since the last time alone", b.read)
	}
	for name, spoil := range map[string]Checkpoint{
		"of another topic":       {Of: "another", Next: 2},
		"ahead of the changelog": {Next: 1 << 40},
	} {
		var batch store.Batch
		batch.Put(1, []byte("stranger"), []byte("x"))
		batch.SetCheckpoint(1, spoil.Encode())
		if err := b.Store.Apply(&batch); err != nil {
			t.Fatal(err)
		}
		t.Log(name)
		b.holds(t, second, want)
	}
}

// TestRestoreWaitsForTheMarkers: what is written is not decided yet.
func TestRestoreWaitsForTheMarkers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.transact(t, kgo.TryCommit, Meta{Raw: 1}, map[string]string{"a": "1"})
	b.begin(t, Meta{Raw: 2}, map[string]string{"a": "22"})
	ctx, cut := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cut()
	if _, err := b.Restore(ctx, []int32{1}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an open transaction was not waited for: %v", err)
	}
	if err := b.writer.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	b.holds(t, Meta{Raw: 2}, map[string]string{"a": "22"})
}

// TestARestoreThatIsCutShort goes on where it was, or begins anew.
func TestARestoreThatIsCutShort(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	states := make(map[string]string)
	for i := range 40 {
		states[fmt.Sprintf("u%d", i)] = string(make([]byte, flushBytes/16+i))
	}
	b.transact(t, kgo.TryCommit, Meta{Raw: 1}, states)
	due := b.Due
	n := 0
	b.Due = func(state []byte) (time.Time, error) {
		if n++; n == 30 {
			return time.Time{}, errors.New("cut")
		}
		return due(state)
	}
	if _, err := b.Restore(t.Context(), []int32{1}); err == nil {
		t.Fatal("nothing was cut")
	}
	b.read = 0
	b.holds(t, Meta{Raw: 1}, states)
	if b.read > 30 {
		t.Errorf("%d records were read again", b.read)
	}
}

func TestARecordThatCantBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.transact(t, kgo.TryCommit, Meta{}, map[string]string{"a": "broken"})
	if _, err := b.Restore(t.Context(), []int32{1}); err == nil || !strings.Contains(err.Error(), `record of user "a" at personas-changelog[1]@0`) {
		t.Errorf("it was restored, or is not named: %v", err)
	}
}

// TestARecordThatWasRemoved from the changelog, by hand, is none of the store's any more.
func TestARecordThatWasRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.transact(t, kgo.TryCommit, Meta{Raw: 1}, map[string]string{"a": "1", "b": "22"})
	b.holds(t, Meta{Raw: 1}, map[string]string{"a": "1", "b": "22"})
	err := b.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner())).ProduceSync(t.Context(), User(1, "a", nil)).FirstErr()
	if err != nil {
		t.Fatal(err)
	}
	b.holds(t, Meta{Raw: 1}, map[string]string{"b": "22"})
	b.Store = store.NewMemory()
	b.holds(t, Meta{Raw: 1}, map[string]string{"b": "22"})
}
