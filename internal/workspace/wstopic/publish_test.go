package wstopic

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/txn"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

func TestApplyAndRead(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	want := wstest.CRM()
	if diff := cmp.Diff([]string{"+ source website", "+ destination crm", "+ destination glacier", "+ destination shelf", "+ destination warehouse", "+ audience big_spenders", "+ trait orders_30d", "+ identity settings"}, wstest.Lines(apply(t, p, want))); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	state := read(t, c)
	wstest.Equal(t, state.Snapshot, want)
	if !state.Applied {
		t.Error("not known to be applied")
	}
	c.ReadAll(t, schemas.TopicWorkspace, 9)
}

func TestApplyWritesTheDifferenceAlone(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	apply(t, p, wstest.Of("a", "b", "c"))
	if changes := apply(t, p, wstest.Of("a", "b", "c")); len(changes) != 0 {
		t.Errorf("applied twice: %v", changes)
	}
	c.ReadAll(t, schemas.TopicWorkspace, 5) // a source, three destinations, the mark

	want := []string{"- destination b", "+ destination d"}
	if diff := cmp.Diff(want, wstest.Lines(apply(t, p, wstest.Of("a", "c", "d")))); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	all := c.ReadAll(t, schemas.TopicWorkspace, 8) // and the mark, which notes it
	for i, key := range []string{"destination/b", "destination/d"} {
		r := all[5+i]
		if string(r.Key) != key || (r.Value == nil) != (key == "destination/b") {
			t.Errorf("record %d: key %s, value %q", 5+i, r.Key, r.Value)
		}
	}
	wstest.Equal(t, read(t, c).Snapshot, wstest.Of("a", "c", "d"))
}

func TestRemovingEverythingIsRemembered(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	apply(t, p, wstest.Of("a"))
	apply(t, p, workspace.NewSnapshot(nil, nil))
	state := read(t, c)
	wstest.Equal(t, state.Snapshot, workspace.NewSnapshot(nil, nil))
	if !state.Applied {
		t.Error("not known to be applied")
	}
	if changes, err := p.Seed(timeout(t), workspace.Example("http://127.0.0.1:8082/")); err != nil || len(changes) != 0 {
		t.Errorf("Seed: %v, %v", changes, err)
	}
	wstest.Equal(t, read(t, c).Snapshot, workspace.NewSnapshot(nil, nil))
}

func TestApplyingNothingIsRememberedToo(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	apply(t, publisher(t, c), workspace.NewSnapshot(nil, nil))
	if !read(t, c).Applied {
		t.Error("not known to be applied")
	}
}

func TestSeed(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	for i, url := range []string{"http://127.0.0.1:8082/", "http://127.0.0.1:9999/"} { // the second replaces the first
		if changes, err := p.Seed(timeout(t), workspace.Example(url)); err != nil || len(changes) == 0 {
			t.Fatalf("Seed %d: %v, %v", i, changes, err)
		}
		state := read(t, c)
		wstest.Equal(t, state.Snapshot, workspace.Example(url))
		if state.Applied {
			t.Error("an example counts as applied")
		}
	}
	apply(t, p, wstest.Of("a"))
	wstest.Equal(t, read(t, c).Snapshot, wstest.Of("a"))
}

func TestApplyEnsuresTopicsFirst(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	var ensured []string
	create := p.Ensure
	p.Ensure = func(ctx context.Context, exports map[string]schemas.Export, topics ...string) error {
		if state, err := Read(ctx, c.Options()); err != nil || len(state.Snapshot.Destinations()) > 0 {
			t.Errorf("the destination was published before its topic, or %v", err)
		}
		ensured = append(ensured, topics...)
		return create(ctx, exports, topics...)
	}
	apply(t, p, wstest.Of("a", "b"))
	if diff := cmp.Diff([]string{schemas.TopicWorkspace, "deliver.a", "deliver.b"}, ensured); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestApplyWithoutItsTopics(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	create, refusal := p.Ensure, errors.New("create topic deliver.a: refused")
	p.Ensure = func(ctx context.Context, exports map[string]schemas.Export, topics ...string) error {
		if topics[0] == "deliver.a" {
			return refusal
		}
		return create(ctx, exports, topics...)
	}
	if _, err := p.Apply(timeout(t), wstest.Of("a")); !errors.Is(err, refusal) {
		t.Errorf("Apply: %v, want %v", err, refusal)
	}
	c.ReadAll(t, schemas.TopicWorkspace, 0)
}

// TestAppliesAtOnce is what the comparison of offsets is for: whoever wins, no
// mixture of two workspaces is ever in force.
func TestAppliesAtOnce(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	var group sync.WaitGroup
	for i := range 4 {
		p := publisher(t, c)
		group.Go(func() {
			mine := wstest.Of(fmt.Sprintf("d%d-a", i), fmt.Sprintf("d%d-b", i))
			if _, err := p.Apply(timeout(t), mine); err != nil {
				t.Errorf("Apply: %v", err)
			}
		})
	}
	group.Wait()
	ids := wstest.IDs(read(t, c).Snapshot)
	if len(ids) != 2 || ids[0][:2] != ids[1][:2] {
		t.Errorf("a mixture is in force: %v", ids)
	}
}

// TestApplyAroundAnOpenTransaction shows that one publisher's half does not
// count for another: neither before its commit nor after its abort.
func TestApplyAroundAnOpenTransaction(t *testing.T) {
	t.Parallel()
	for name, try := range map[string]kgo.TransactionEndTry{"committed": kgo.TryCommit, "aborted": kgo.TryAbort} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testkit.Brokers(t)
			p := publisher(t, c)
			apply(t, p, wstest.Of("a"))
			end := transaction(t, c, record("destination/b", `{"type":"webhooks","endpoints":[{"url":"http://b"}]}`))
			wstest.Equal(t, read(t, c).Snapshot, wstest.Of("a"))

			short, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			if _, err := p.Apply(short, wstest.Of("c")); !errors.Is(err, errOvertaken) && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Apply beside an open transaction: %v", err)
			}
			end(try)
			apply(t, p, wstest.Of("c"))
			wstest.Equal(t, read(t, c).Snapshot, wstest.Of("c"))
		})
	}
}

// TestApplyThatDiesHalfWay ends the transaction nowhere: readers go on seeing
// what was in force.
func TestApplyThatDiesHalfWay(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	p := publisher(t, c)
	apply(t, p, wstest.Of("a"))
	c.Fake.ControlKey(int16(kmsg.EndTxn), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.Fake.KeepControl()
		return nil, errors.New("the broker is gone"), true
	})
	if _, err := p.Apply(timeout(t), wstest.Of("b")); !errors.Is(err, txn.ErrUnknown) {
		t.Errorf("Apply: %v", err)
	}
	wstest.Equal(t, read(t, c).Snapshot, wstest.Of("a"))
}

// TestApplyReturnsWhenReadersSeeIt has the broker write the marker of the
// commit late, as real ones do.
func TestApplyReturnsWhenReadersSeeIt(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	p := publisher(t, c)
	var committed, asked atomic.Int32
	c.Fake.ControlKey(int16(kmsg.EndTxn), func(kmsg.Request) (kmsg.Response, error, bool) {
		committed.Add(1)
		return nil, nil, false
	})
	c.Fake.ControlKey(int16(kmsg.ListOffsets), func(request kmsg.Request) (kmsg.Response, error, bool) {
		c.Fake.KeepControl()
		if committed.Load() == 0 || asked.Add(1) > 3 {
			return nil, nil, false
		}
		return endAt(request, 0), nil, true
	})
	apply(t, p, wstest.Of("a"))
	if n := asked.Load(); n != 4 {
		t.Errorf("it asked %d times whether readers see it, want 4", n)
	}
}

func TestApplyReportsWhatBrokersRefuse(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	p := publisher(t, c)
	large := wstest.Of("a")
	for range 200_000 {
		large.Destinations()[0].Sources = append(large.Destinations()[0].Sources, "website")
	}
	_, err := p.Apply(timeout(t), large)
	if err == nil || !strings.Contains(err.Error(), "publish workspace: produce destination/a: ") {
		t.Errorf("Apply: %v", err)
	}
	c.ReadAll(t, schemas.TopicWorkspace, 0)
}

func TestApplyGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	p := publisher(t, c)
	c.Fake.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.Fake.KeepControl()
		return nil, errors.New("the broker is gone"), true
	})
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := p.Apply(ctx, wstest.Of("a")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Apply: %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestApplyDoesNotWaitForOthersForEver: a regulation whose process died in the midst of its
// transaction keeps readers from what was committed behind it, for as long as the brokers
// let it stay open.
func TestApplyDoesNotWaitForOthersForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := testkit.Virtual(t)
		p := publisher(t, c)
		apply(t, p, wstest.Of("a"))
		died := c.Client(t, kgo.TransactionalID("died"), kgo.TransactionTimeout(10*time.Minute),
			kgo.DefaultProduceTopic(schemas.TopicWorkspace), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		if err := died.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := died.ProduceSync(t.Context(), record("regulation/r", "{}")).FirstErr(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := p.Apply(t.Context(), wstest.Of("a", "b")); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}

// TestApplyAtAnotherState writes nothing, be it another workspace or a pause that came between.
func TestApplyAtAnotherState(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	apply(t, p, wstest.Of("a"))
	before := read(t, c)
	if _, err := p.Pause(timeout(t), "a", "ada", time.Now()); err != nil {
		t.Fatal(err)
	}
	paused := read(t, c)
	if _, err := p.ApplyAt(timeout(t), before.End(), wstest.Of("b")); !errors.Is(err, ErrChanged) {
		t.Errorf("over a pause: %v", err)
	}
	if after := read(t, c); after.End() != paused.End() {
		t.Errorf("something was written up to %d", after.End())
	}
	changes, err := p.ApplyAt(timeout(t), paused.End(), wstest.Of("b"))
	if diff := cmp.Diff([]string{"- destination a", "+ destination b"}, wstest.Lines(changes)); err != nil || diff != "" {
		t.Errorf("over what was read: %v, changes (-want +got):\n%s", err, diff)
	}
}
