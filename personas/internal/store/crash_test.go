package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestACrashLeavesTheStateAtTheCheckpoint pulls the plug at random instants, with none, half or all of what was not synced
// surviving, and opens what is left: each partition is what it was after one batch, the one whose checkpoint it has, and the
// partitions are as they were at one instant.
func TestACrashLeavesTheStateAtTheCheckpoint(t *testing.T) {
	for seed := range uint64(4 * *rounds) {
		for _, survives := range []int{0, 50, 100} {
			t.Run(fmt.Sprintf("%d/%d%%", seed, survives), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, uint64(survives)))
				files := vfs.NewCrashableMem()
				m := make(model)
				for range 3 { // what a crash left goes on, and crashes again
					files, m = crashed(t, r, files, m, survives)
				}
			})
		}
	}
}

// crashed does much to a store and crashes it. It returns what is left of the files, and the state that was found there.
func crashed(t *testing.T, r *rand.Rand, files *vfs.MemFS, m model, survives int) (*vfs.MemFS, model) {
	t.Helper()
	s := opened(t, files)
	compareAll(t, s, m)
	past := []model{m.clone()}
	crash := 15 + r.IntN(40)
	for range crash {
		crashStep(t, r, s.(*disk), m)
		past = append(past, m.clone())
	}
	left := files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: survives, RNG: r})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = opened(t, left)
	found := which(t, s, past)
	compareAll(t, s, found)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return left, found
}

// which returns the newest of several states whose checkpoints are those of a store.
func which(t *testing.T, s Store, past []model) model {
	t.Helper()
	for _, state := range slices.Backward(past) {
		fits := true
		for p := range int32(3) {
			checkpoint, ok, err := s.Checkpoint(p)
			if err != nil {
				t.Fatal(err)
			}
			part := state[p]
			fits = fits && ok == (part != nil) && (!ok || string(checkpoint) == part.checkpoint)
		}
		if fits {
			return state
		}
	}
	t.Fatal("the checkpoints are those of no instant")
	return nil
}

func crashStep(t *testing.T, r *rand.Rand, s *disk, m model) {
	t.Helper()
	var err error
	switch r.IntN(12) {
	case 0:
		p := r.Int32N(3)
		delete(m, p)
		err = s.Wipe(p)
	case 1:
		err = s.db.Flush()
	case 2:
		_, err = s.db.AsyncFlush()
	case 3:
		err = errors.Join(s.db.Flush(), s.db.Compact(t.Context(), []byte{0}, []byte{255}, false))
	case 4:
		var b Batch
		m.write(r, &b, 20_000) // may be more than a buffer
		err = s.Apply(&b)
	default:
		var b Batch
		m.write(r, &b, 200)
		err = s.Apply(&b)
	}
	if err != nil {
		t.Fatal(err)
	}
}
