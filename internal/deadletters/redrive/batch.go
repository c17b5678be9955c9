package redrive

const (
	// MaxRate bounds the rate: a redrive is for one's receivers to bear.
	MaxRate = 10_000

	// batchesPerSecond makes transactions short: readers of committed records see
	// a transaction at once, so that it is what bursts are made of.
	batchesPerSecond = 10

	// maxBatchBytes bounds what a batch of large events holds in memory.
	maxBatchBytes = 4 << 20
)

// batchSize is how many events a transaction holds at a rate per second.
func batchSize(rate int) int { return max(1, rate/batchesPerSecond) }
