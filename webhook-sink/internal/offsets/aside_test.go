package offsets

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFingerprintIsFNV1a(t *testing.T) {
	for _, key := range []string{"", "user-1", "Zoë"} {
		sum := fnv.New64a()
		fmt.Fprint(sum, key)
		if got := Fingerprint([]byte(key)); got != sum.Sum64() {
			t.Errorf("fingerprint of %q is %x, want %x: older commits say so", key, got, sum.Sum64())
		}
	}
}

// TestKeysSetAsideTravel: as many keys as may be set aside fit into a commit, with
// what else it says, and come out as they went in.
func TestKeysSetAsideTravel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		main, epoch := random.Int64N(1<<40), int32(random.IntN(10)-1)
		var keys []Aside
		for range 1 + random.IntN(MaxAside) {
			keys = append(keys, Aside{Key: random.Uint64(), From: max(main-random.Int64N(1<<30), 0), Count: random.Int64N(1 << 30)})
		}
		tracker := NewTracker(Done{main: main, mainEpoch: epoch, aside: keys})
		for offset, n := main, random.IntN(4000); n > 0; n-- {
			offset += 1 + random.Int64N(3)
			tracker.Begin(offset, 7, 0)
			if random.IntN(2) == 0 {
				tracker.Finish(offset, tracker.Reading())
			}
		}
		at, _, beyond := tracker.Mark(keys)
		text := beyond.Encode(at)
		if len(text) > MaxEncoded {
			t.Fatalf("%d bytes for %d keys", len(text), len(keys))
		}
		got := Decode(at, text)
		if !slices.Equal(got.aside, beyond.aside) || got.main != beyond.main || got.mainEpoch != beyond.mainEpoch {
			t.Fatalf("decoded %+v, want %+v", got, beyond)
		}
		for i, r := range got.runs {
			if r != beyond.runs[i] {
				t.Fatalf("run %d is %v, want %v", i, r, beyond.runs[i])
			}
		}
	}
}

func TestWhatACommitSaysOfAKeySetAside(t *testing.T) {
	tracker := NewTracker(Done{})
	for offset := range int64(100) {
		tracker.Begin(offset, 3, 0)
		if offset != 80 && offset != 95 {
			tracker.Finish(offset, tracker.Reading())
		}
	}
	busy, other := []byte("busy"), []byte("other")
	at, epoch, beyond := tracker.Mark([]Aside{{Key: Fingerprint(busy), From: 10, Count: 30}})
	if at != 10 || epoch != -1 {
		t.Errorf("committed at %d with epoch %d, want 10 and an unknown one", at, epoch)
	}
	done := Decode(at, beyond.Encode(at))
	if main, epoch, ok := done.Resume(10); !ok || main != 80 || epoch != 3 {
		t.Errorf("reading goes on at %d of epoch %d (%t), want 80 of 3", main, epoch, ok)
	}
	if _, _, ok := done.Resume(11); ok {
		t.Error("a commit at another offset says where reading goes on")
	}
	tests := []struct {
		key    []byte
		offset int64
		epoch  int32
		want   bool
	}{
		{busy, 9, 3, true}, // before it was set aside
		{busy, 10, 3, false},
		{busy, 90, 3, false},
		{other, 50, 3, true},
		{other, 50, 4, false}, // in a log that was written anew
		{other, 80, 3, false},
		{other, 81, 3, true},
		{other, 95, 3, false},
		{other, 99, 3, true},
		{other, 100, 3, false},
	}
	for _, tt := range tests {
		if got := done.ContainsKey(tt.key, tt.offset, tt.epoch); got != tt.want {
			t.Errorf("%s@%d of epoch %d is finished: %t, want %t", tt.key, tt.offset, tt.epoch, got, tt.want)
		}
	}
	next := NewTracker(done)
	if at, epoch := next.Position(); at != 80 || epoch != 3 {
		t.Errorf("whoever reads next is at %d of epoch %d, want 80 of 3", at, epoch)
	}
}

// TestNoKeySetAsideIsTheFirstVersion: a release that does not know the second one
// reads all others.
func TestNoKeySetAsideIsTheFirstVersion(t *testing.T) {
	tracker := NewTracker(Done{})
	for offset := range int64(3) {
		tracker.Begin(offset, 0, 0)
	}
	tracker.Finish(1, tracker.Reading())
	at, epoch, beyond := tracker.Mark(nil)
	if text := beyond.Encode(at); at != 0 || epoch != -1 || text != tracker.Done().Encode(0) || text[:len(plain)] != plain {
		t.Errorf("%q at %d", text, at)
	}
}

func TestMalformedKeysAreNothing(t *testing.T) {
	good := Done{main: 20, mainEpoch: 1, aside: []Aside{{Key: 1, From: 10, Count: 2}}}.Encode(10)
	if Decode(10, good).Empty() {
		t.Fatalf("%q is empty", good)
	}
	for _, numbers := range [][]byte{
		{0},
		{0, 5, 0},
		{0, 5, 0, 0},                  // no key
		{0, 5, 0, 1, 7, 0},            // half a key
		{0, 5, 0, MaxAside + 1, 1, 1}, // too many
		{0, 5, 0, 1, 7, 0, 1, 3},      // half a run
	} {
		if d := Decode(10, plainAside+encoding.EncodeToString(numbers)); !d.Empty() {
			t.Errorf("%v is %+v, want nothing", numbers, d)
		}
	}
}
