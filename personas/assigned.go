package personas

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
	"github.com/anabranch/anabranch/internal/seen/digest"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/users"
	"github.com/anabranch/anabranch/schemas"
)

// Restore implements [runner.Stateful].
func (p *processor) Restore(ctx context.Context, at map[kafka.Partition]runner.Place) error {
	err := p.restore(ctx, at)
	p.unreadable(err)
	switch {
	case err == nil:
		p.metrics.restores.WithLabelValues(restored).Inc()
	case ctx.Err() == nil:
		result := unread
		if errors.Is(err, errUnfit) {
			result = refused
		}
		p.metrics.restores.WithLabelValues(result).Inc()
		p.set.Logger.Error("partitions can't be processed without the state of their users, retrying", "error", kafka.Advised(err))
	}
	return err
}

func (p *processor) restore(ctx context.Context, at map[kafka.Partition]runner.Place) error {
	var nums []int32
	for of := range at {
		if !slices.Contains(nums, of.Num) {
			nums = append(nums, of.Num)
		}
	}
	slices.Sort(nums)
	// Nothing of an earlier time is to reach the store from here on. Not every revocation
	// is told before a partition comes back.
	p.lose(nums)
	all, err := p.restorer.Restore(ctx, nums)
	if err != nil {
		return err
	}
	starts, err := p.place(ctx, at, all)
	if err != nil {
		return err
	}
	if err = p.know(ctx, at); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for num, c := range all {
		p.parts[num] = &partition{num: num, users: users.New(num, p.store), Checkpoint: *c, start: starts[num]}
	}
	return nil
}

// place has processing go on where the state is that was restored, and returns where that
// is on raw-events.
func (p *processor) place(ctx context.Context, at map[kafka.Partition]runner.Place, all map[int32]*changelog.Checkpoint) (starts map[int32]int64, err error) {
	starts = make(map[int32]int64, len(all))
	var extents map[string]map[int32]kafka.Extent
	for of, place := range at {
		c := all[of.Num]
		for _, topic := range []string{schemas.TopicRawEvents, schemas.TopicPersonasInternal} {
			if _, both := at[kafka.Partition{Topic: topic, Num: of.Num}]; !both {
				return nil, fmt.Errorf("%s[%d] has no leader: partition %d is not processed without it", topic, of.Num, of.Num)
			}
		}
		if place.Next, err = begin(of, place, c); err != nil {
			return nil, err
		}
		if of.Topic == schemas.TopicRawEvents && c.Catalogue == "" && !place.Committed {
			if extents == nil {
				if extents, err = p.set.Topics.Extents(ctx, schemas.TopicRawEvents); err != nil {
					return nil, err
				}
			}
			// What there is already is history: see package comment.
			place.Next = max(place.Next, extents[of.Topic][of.Num].End)
			c.Raw = place.Next
		}
		if of.Topic == schemas.TopicRawEvents {
			starts[of.Num] = place.Next
		}
		if c.Idle {
			if of.Topic == schemas.TopicRawEvents {
				c.Raw = place.Next
			} else {
				c.Internal = place.Next
			}
		}
		at[of] = place
	}
	return starts, nil
}

// errUnfit says that the state of users is of another place than the group's offset.
var errUnfit = errors.New("expected them to be equal")

// know gets what is known of the calls before the places where processing goes on. Without
// definitions nobody asks.
func (p *processor) know(ctx context.Context, at map[kafka.Partition]runner.Place) error {
	if p.copies == nil || none(p.set.Definitions()) {
		return nil
	}
	from := make(map[int32]digest.At)
	for of, place := range at {
		if of.Topic == schemas.TopicRawEvents {
			from[of.Num] = digest.At{Next: place.Next, TopicID: place.Of}
		}
	}
	return p.copies.Restore(ctx, from)
}

// none reports whether nothing is defined.
func none(d *engine.Definitions) bool { return len(d.Audiences)+len(d.Traits) == 0 }

// begin is where processing of a partition goes on by the state that was restored. Where
// the group has an offset the two have to agree.
func begin(of kafka.Partition, place runner.Place, c *changelog.Checkpoint) (next int64, err error) {
	next = c.Raw
	if of.Topic == schemas.TopicPersonasInternal {
		next = c.Internal
	}
	known := c.Catalogue != "" || c.Time != 0 || next != 0
	switch {
	case !place.Committed && known:
		return max(next, place.Found), nil
	case !place.Committed || c.Idle:
		return place.Next, nil
	case next != place.Found:
		return 0, fmt.Errorf("state of users on partition %d is of offset %d of %s, and the group has processed up to %d: %w", of.Num, next, of.Topic, place.Found, errUnfit)
	}
	return place.Next, nil
}

// dueOf reads from records when their users are due, whatever the definitions.
func dueOf() func(state []byte) (time.Time, error) {
	c, err := engine.Compile(engine.Definitions{})
	if err != nil {
		panic(err) // of no definitions
	}
	return func(state []byte) (time.Time, error) {
		profile, err := c.Decode(state)
		if err != nil {
			return time.Time{}, err //nolint:wrapcheck // who calls says whose it is
		}
		return profile.Due(), nil
	}
}

// Lost implements [runner.Stateful].
func (p *processor) Lost(partitions []kafka.Partition) {
	nums := make([]int32, len(partitions))
	for i, of := range partitions {
		nums[i] = of.Num
	}
	p.lose(nums)
	if p.copies != nil {
		p.copies.Lost(partitions)
	}
	for _, num := range nums {
		p.history.Forget(num)
	}
}

func (p *processor) lose(nums []int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, num := range nums {
		delete(p.parts, num)
	}
}

// owned are the partitions of this process.
func (p *processor) owned() []int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.parts))
}
