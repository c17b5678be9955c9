package broker

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestAnAbortOutlivesTheNextKill: what was open at a kill is never shown, although its producer comes back under the
// same id and commits something else before the next one.
func TestAnAbortOutlivesTheNextKill(t *testing.T) {
	image := t.TempDir()
	b := open(t, image)
	create(t, b, "events", 1)
	want := []string{"before"}
	end(t, transaction(t, b, "redrive", time.Minute, want...), kgo.TryCommit)
	for _, value := range []string{"one", "two", "three"} {
		transaction(t, b, "redrive", time.Minute, "open at the kill before "+value)
		image = killed(t, image)
		b = open(t, image)
		end(t, transaction(t, b, "redrive", time.Minute, value), kgo.TryCommit)
		want = append(want, value)
	}
	b = open(t, killed(t, image))
	if diff := cmp.Diff(want, readUntil(t, b, "events", "three")); diff != "" {
		t.Errorf("committed records (-want +got):\n%s", diff)
	}
}

// TestAKillFencesWhoLivesOn: a client in another process must not go on with the transaction that its broker's kill has
// aborted, or half of it would be committed.
func TestAKillFencesWhoLivesOn(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "events", 1)
	cl := transaction(t, b, "redrive", time.Minute, "aborted by the kill")
	id, before, err := cl.ProducerID(within(t))
	if err != nil {
		t.Fatal(err)
	}
	image := killed(t, dir)
	known, err := readProducers(filepath.Join(image, "broker", "pids.log"))
	if err != nil || known[id].Epoch != before {
		t.Fatalf("pids.log has %+v, %v; the client has epoch %d", known[id], err, before)
	}
	if err = repair(filepath.Join(image, "broker"), quiet()); err != nil {
		t.Fatal(err)
	}
	known, err = readProducers(filepath.Join(image, "broker", "pids.log"))
	if p := known[id]; err != nil || p.Epoch != before+1 || p.Commit == nil || *p.Commit {
		t.Errorf("pids.log has %+v, %v; want the epoch behind %d, and that it was aborted", p, err, before)
	}
}

// halfCommitted is what a kill in the midst of a commit leaves of a transaction to two topics: the marker is in one of them, and
// the log of producers does not know of it.
func halfCommitted(t *testing.T) (image string) {
	t.Helper()
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "events", 1)
	create(t, b, "marks", 1)
	for _, value := range []string{"one", "two"} {
		cl := client(t, b, kgo.TransactionalID("redrive"))
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		produce(t, cl, "events", value)
		produce(t, cl, "marks", value)
		if value == "two" {
			dir = killed(t, dir)
			continue // with the end of what is there, up to the marker of the other topic
		}
		end(t, cl, kgo.TryCommit)
	}
	e, err := readEnding(partitionDir(filepath.Join(dir, "broker"), "marks", 0))
	if err != nil || len(e.open) != 1 {
		t.Fatalf("%v, open: %v", err, e.open)
	}
	for id, epoch := range e.open {
		if err := e.write(marker(e, id, epoch, true, time.Now())); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestACommitIsFinished: a transaction that was being committed at a kill is committed in all partitions, or a mark of what was
// sent would be without what was sent.
func TestACommitIsFinished(t *testing.T) {
	image := halfCommitted(t)
	for range 2 { // also after another kill
		b := open(t, image)
		for _, topic := range []string{"events", "marks"} {
			end(t, transactionTo(t, b, topic, "other", "end"), kgo.TryCommit)
			if got := readUntil(t, b, topic, "end"); len(got) < 2 || got[0] != "one" || got[1] != "two" {
				t.Errorf("%s has %q, want what was being committed", topic, got)
			}
		}
		image = killed(t, image)
	}
}

// transactionTo is a transaction to a topic.
func transactionTo(t *testing.T, b *Broker, topic, id string, values ...string) *kgo.Client {
	t.Helper()
	cl := client(t, b, kgo.TransactionalID(id))
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	produce(t, cl, topic, values...)
	return cl
}

// TestWhatWasOverIsNoCommit: that the last transaction of a producer was committed says nothing of the one that is open.
func TestWhatWasOverIsNoCommit(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "events", 1)
	create(t, b, "marks", 1)
	cl := transactionTo(t, b, "marks", "redrive", "one")
	end(t, cl, kgo.TryCommit)
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	produce(t, cl, "events", "open")
	b = open(t, killed(t, dir))
	end(t, transactionTo(t, b, "events", "other", "end"), kgo.TryCommit)
	if diff := cmp.Diff([]string{"end"}, readUntil(t, b, "events", "end")); diff != "" {
		t.Errorf("committed records (-want +got):\n%s", diff)
	}
}

// TestARepairThatIsKilled in the midst of a marker can be made again: producers are fenced after that.
func TestARepairThatIsKilled(t *testing.T) {
	image := halfCommitted(t)
	log := filepath.Join(image, "broker")
	producers, err := os.ReadFile(filepath.Join(log, "pids.log"))
	if err != nil {
		t.Fatal(err)
	}
	before := size(t, segmentOfEvents(image))
	if err := repair(log, quiet()); err != nil {
		t.Fatal(err)
	}
	whole := size(t, segmentOfEvents(image))
	if err := os.WriteFile(filepath.Join(log, "pids.log"), producers, 0o600); err != nil {
		t.Fatal(err)
	}
	for cut := range whole - before + 1 {
		again := killed(t, image)
		shorten(t, segmentOfEvents(again), cut)
		if err := repair(filepath.Join(again, "broker"), quiet()); err != nil {
			t.Fatal(err)
		}
		e, err := readEnding(filepath.Dir(segmentOfEvents(again)))
		if err != nil || len(e.open) > 0 || len(e.commits) != 1 || e.bytes != whole || size(t, segmentOfEvents(again)) != whole {
			t.Errorf("cut off by %d bytes: %v, %+v; want %d bytes, and a commit", cut, err, e, whole)
		}
	}
}

// segmentOfEvents is the one of the topic events in a data directory.
func segmentOfEvents(dir string) string {
	return filepath.Join(partitionDir(filepath.Join(dir, "broker"), "events", 0), "0.dat")
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func FuzzEnding(f *testing.F) {
	f.Add(make([]byte, batchHead))
	head := make([]byte, 2*batchHead)
	binary.BigEndian.PutUint32(head[batchLengthAt:], uint32(len(head)-batchLengthAt-4))
	head[batchAttributesAt+1] = controlBit
	f.Add(head)
	f.Add(marker(&ending{}, 1, 2, true, time.Now()))
	f.Fuzz(func(t *testing.T, segment []byte) {
		e := &ending{open: make(map[int64]int16), commits: make(map[int64]int16)}
		for batch := range batches(segment) {
			e.add(batch)
		}
		if e.bytes > int64(len(segment)) || len(e.open)+len(e.commits) > e.batches {
			t.Errorf("%+v of %d bytes", e, len(segment))
		}
	})
}
