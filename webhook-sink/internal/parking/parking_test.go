package parking

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

type job struct {
	turn   time.Time
	offset int64
}

func (j *job) Turn() time.Time { return j.turn }
func (j *job) Offset() int64   { return j.offset }

// TestJobsComeInTheirTurn: and those of one moment as they were written.
func TestJobsComeInTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(3, 1))
		var due []*job
		var mu sync.Mutex // the dispatcher's
		var lot Lot[*job]
		lot = New[*job](func() {
			mu.Lock()
			defer mu.Unlock()
			now := time.Now()
			for j, ok := lot.Due(now); ok; j, ok = lot.Due(now) {
				if !j.turn.Equal(now) {
					t.Errorf("the turn of %d is %s off", j.offset, now.Sub(j.turn))
				}
				due = append(due, j)
			}
			lot.Arm()
		})
		const n = 500
		mu.Lock()
		for offset := range int64(n) {
			lot.Add(&job{time.Now().Add(time.Duration(random.IntN(100)) * time.Second), offset})
		}
		lot.Arm()
		mu.Unlock()
		virtual.Sleep(100 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		inOrder := slices.IsSortedFunc(due, func(a, b *job) int {
			if c := a.turn.Compare(b.turn); c != 0 {
				return c
			}
			return int(a.offset - b.offset)
		})
		if _, waits := lot.Next(); len(due) != n || !inOrder || waits {
			t.Errorf("%d of %d came, in order: %t, some wait: %t", len(due), n, inOrder, waits)
		}
	})
}

// TestAPauseEndsOnce: the client is told once of each.
func TestAPauseEndsOnce(t *testing.T) {
	lot := New[*job](nil)
	if lot.Charge(High) || !lot.Charge(1) || lot.Charge(1) || !lot.IsPaused() {
		t.Error("expected a pause above High, once")
	}
	if lot.Discharge(High-Low+2) || !lot.Discharge(1) || lot.Discharge(1) || lot.IsPaused() || lot.Bytes() != Low-2 {
		t.Errorf("expected an end of it below Low, once; %d bytes", lot.Bytes())
	}
	lot.Charge(High)
	lot.Add(&job{offset: 1})
	if _, waits := lot.Next(); !waits || !lot.Close() || lot.Close() {
		t.Error("expected Close to end the pause, once")
	}
	if _, waits := lot.Next(); waits {
		t.Error("something waits in a lot that is closed")
	}
}
