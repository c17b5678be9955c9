package personas

import (
	"slices"
	"time"

	"github.com/anabranch/anabranch/personas/internal/store"
)

// ticking are the partitions of this process whose clocks have to tick: where a user is due, definitions are
// to be taken up, or something of them is under way. Elsewhere nothing happens as time
// passes, and a tick would only be written, processed and kept.
func (p *processor) ticking() []int32 {
	d, now := p.set.Definitions(), time.Now()
	inForce := printOf(d)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard.first(inForce, now)
	var nums []int32
	for num, part := range p.parts {
		fresh := part.Catalogue != inForce && (part.Catalogue != "" || !none(d))
		if fresh || len(part.Fills) > 0 || part.Sweep != nil || inHand(part.Resyncs) >= 0 || p.due(num, now) {
			nums = append(nums, num)
		}
	}
	slices.Sort(nums)
	return nums
}

// heard says when this process heard of definitions first.
type heard struct {
	of string // their print
	at time.Time
}

func (h *heard) first(of string, now time.Time) time.Time {
	if h.of != of || h.at.IsZero() {
		*h = heard{of, now}
	}
	return h.at
}

// due reports whether a user of a partition is. What can't be read is the loop's to say.
func (p *processor) due(num int32, now time.Time) bool {
	timers, err := p.store.Due(num, store.Timer{}, now, 1)
	return err != nil || len(timers) > 0
}
