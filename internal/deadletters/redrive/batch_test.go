package redrive

import "testing"

func TestBatchSize(t *testing.T) {
	t.Parallel()
	for rate, want := range map[int]int{1: 1, 9: 1, 10: 1, 100: 10, 105: 10, MaxRate: 1000} {
		if got := batchSize(rate); got != want {
			t.Errorf("at %d/s a batch holds %d, want %d", rate, got, want)
		}
	}
}
