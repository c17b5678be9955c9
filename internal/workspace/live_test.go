package workspace_test

import (
	"sync"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
)

func TestLive(t *testing.T) {
	t.Parallel()
	first, second := wstest.Of("a"), wstest.Of("b")
	l := workspace.NewLive(first)
	changed := l.Changed()
	select {
	case <-changed:
		t.Fatal("changed before anything did")
	default:
	}
	if l.Load() != first {
		t.Error("not the first snapshot")
	}
	l.Store(second)
	<-changed
	if l.Load() != second {
		t.Error("not the second snapshot")
	}
	select {
	case <-l.Changed():
		t.Error("the next signal was given already")
	default:
	}
}

// TestLiveLosesNoChange has readers that follow the rule, signal first and then
// snapshot: each of them ends with the last snapshot.
func TestLiveLosesNoChange(t *testing.T) {
	t.Parallel()
	l, last := workspace.NewLive(wstest.Of()), wstest.Of("last")
	var readers, writers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				changed := l.Changed()
				if l.Load() == last {
					return
				}
				<-changed
			}
		})
	}
	for range 4 {
		writers.Go(func() {
			for range 100 {
				l.Store(wstest.Of("a"))
			}
		})
	}
	writers.Wait()
	l.Store(last)
	readers.Wait()
}
