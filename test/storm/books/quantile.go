package books

import (
	"math"
	"slices"
	"time"
)

// A Phase is what the latencies of one stretch of a run come to.
type Phase struct {
	Count    int
	P50, P99 time.Duration
	Max      time.Duration
}

// Summarize sorts the latencies and sums them up.
func Summarize(latencies []time.Duration) Phase {
	slices.Sort(latencies)
	return Phase{Count: len(latencies), P50: quantile(latencies, 0.50), P99: quantile(latencies, 0.99), Max: quantile(latencies, 1)}
}

// quantile is the smallest value that at least the share q of all is not above.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

// Median sums up phases of the same kind: the sum of their counts, the median of
// each quantile, and the longest of all. A burst of noise from elsewhere spoils one phase, where the
// quantile of all latencies together would be made of that burst.
func Median(phases []Phase) Phase {
	var sum Phase
	p50s, p99s := make([]time.Duration, 0, len(phases)), make([]time.Duration, 0, len(phases))
	for _, p := range phases {
		sum.Count += p.Count
		sum.Max = max(sum.Max, p.Max)
		p50s, p99s = append(p50s, p.P50), append(p99s, p.P99)
	}
	sum.P50, sum.P99 = median(p50s), median(p99s)
	return sum
}

func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
