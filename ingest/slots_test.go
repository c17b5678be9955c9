package ingest

import (
	"testing"
	"testing/synctest"
)

// However many large bodies there are, a small one finds a slot at once.
func TestLargeBodiesLeaveRoomForSmallOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(2)
		taken := 0
		goOn := make(chan struct{})
		for range 100 {
			go func() {
				release := s.take(largeBody)
				taken++
				<-goOn
				release()
			}()
		}
		synctest.Wait()
		if taken != 1 {
			t.Errorf("%d large bodies are decoded at once on two processors, want 1", taken)
		}
		for range 4 {
			defer s.take(largeBody - 1)()
		}
		close(goOn)
		synctest.Wait()
		if taken != 100 {
			t.Errorf("%d of 100 large bodies got a slot in the end", taken)
		}
	})
}
