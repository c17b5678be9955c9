package broker

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// segmentWithIndex is a segment that holds every kind of batch, and the index that kfake wrote for it.
func segmentWithIndex(t *testing.T) (batches, index []byte) {
	t.Helper()
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "events", 1)
	produce(t, client(t, b), "events", "plain")
	produce(t, client(t, b, kgo.DisableIdempotentWrite()), "events", "without a producer id")
	end(t, transaction(t, b, "1", time.Minute, "committed", "too"), kgo.TryCommit)
	end(t, transaction(t, b, "2", time.Minute, "aborted"), kgo.TryAbort)
	transaction(t, b, "3", time.Minute, "open")

	name := filepath.Join(dir, "broker", "partitions", "events-0", "0")
	batches, err := os.ReadFile(name + ".dat")
	if err != nil {
		t.Fatal(err)
	}
	index, err = os.ReadFile(name + ".idx")
	if err != nil {
		t.Fatal(err)
	}
	return batches, index
}

func TestIndexOfIsWhatTheBrokerWrites(t *testing.T) {
	batches, index := segmentWithIndex(t)
	want := []byte{0, 0, 1, 1, 0, 1, 0, 1} // plain, plain, two committed, marker, aborted, marker, open
	got := indexOf(batches)
	if !sameIndex(index, got) {
		t.Errorf("index = %x, the broker wrote %x", got, index)
	}
	if len(got) != len(want)*indexEntry {
		t.Fatalf("%d entries, want %d", len(got)/indexEntry, len(want))
	}
	for i, flag := range want {
		if got[i*indexEntry+14] != flag {
			t.Errorf("flag of batch %d = %d, want %d", i, got[i*indexEntry+14], flag)
		}
	}
}

func TestSameIndexSeesEveryDamage(t *testing.T) {
	_, index := segmentWithIndex(t)
	if !sameIndex(index, index) {
		t.Fatal("an index differs from itself")
	}
	damages := map[string]func(index []byte) []byte{
		"entry missing":    func(index []byte) []byte { return index[:len(index)-indexEntry] },
		"byte missing":     func(index []byte) []byte { return index[:len(index)-1] },
		"entries shifted":  func(index []byte) []byte { return append(index[indexEntry:], index[:indexEntry]...) },
		"flag flipped":     func(index []byte) []byte { index[14] ^= 1; return index },
		"epoch changed":    func(index []byte) []byte { index[2]++; return index },
		"checksum changed": func(index []byte) []byte { index[1]++; return index },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			if sameIndex(damage(append([]byte(nil), index...)), index) {
				t.Error("damage not seen")
			}
		})
	}
}

func TestMendIndexesOfSealedSegments(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "events", 1, "segment.bytes", "1")
	produce(t, client(t, b), "events", "one", "two", "three")
	partition := filepath.Join(killed(t, dir), "broker", "partitions", "events-0")
	want := contents(t, partition)

	shorten(t, filepath.Join(partition, "0.idx"), 4) // a full disk
	if err := os.Remove(filepath.Join(partition, "1.idx")); err != nil {
		t.Fatal(err)
	}
	if err := mendIndexes(partition, quiet()); err != nil {
		t.Fatal(err)
	}
	for name := range want {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".idx" && !sameIndex(got, []byte(want[name])) {
			t.Errorf("%s = %x, want %x", filepath.Base(name), got, want[name])
		}
	}
}

func FuzzIndexOf(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(make([]byte, batchHead))
	whole := make([]byte, 2*batchHead)
	for _, at := range []int{0, batchHead} {
		whole[at+batchLengthAt+3] = batchHead - batchLengthAt - 4
		whole[at+batchAttributesAt+1] = transactionalBit
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Fuzz(func(t *testing.T, batches []byte) {
		index := indexOf(batches)
		if len(index)%indexEntry != 0 || len(index)/indexEntry > len(batches)/batchHead {
			t.Errorf("index of %d bytes for %d bytes of batches", len(index), len(batches))
		}
		if !sameIndex(index, index) {
			t.Errorf("checksums of %x don't fit", index)
		}
	})
}
