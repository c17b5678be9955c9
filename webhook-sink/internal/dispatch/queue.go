package dispatch

import (
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/lanes"
	"github.com/anabranch/anabranch/webhook-sink/internal/pace"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

// queue is what the dispatcher knows of one destination.
type queue struct {
	topic   string
	feeders int               // assigned partitions of the topic that have brought something
	lanes   lanes.Lanes[*Job] // first attempts that wait
	// bytes of first attempts, from when they were fetched until they are
	// finished: an event whose retry record is not acknowledged still counts, so
	// nothing piles up behind a broker that does not write.
	bytes int
	// asideBytes are those of events whose key is set aside, and not in bytes;
	// asideKeys are such keys, over all partitions.
	asideBytes, asideKeys int

	paused bool // the topic is not fetched
	inTurn bool // stands in the dispatcher's line of those that wait for a slot
	speed  quota.Speed

	// due are retries whose time has come, in order, waiting for a slot.
	due      fifo[*Job]
	dueBytes int
	pace     *pace.Pace
	napping  bool // the pace allows no retry until the timer fires
	timer    *time.Timer

	slots      quota.Slots
	afterRetry bool // the attempt that started last was a retry
}
