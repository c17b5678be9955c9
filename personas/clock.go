package personas

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/personas/internal/message"
	"github.com/anabranch/anabranch/schemas"
)

const (
	tickEvery = time.Second
	// tickAtOnce is the least time between two ticks.
	tickAtOnce = 5 * time.Millisecond
	tickTime   = 5 * time.Second
)

// clock writes the ticks of this process's partitions.
type clock struct {
	log    *slog.Logger
	topics *topics.Admin
	owned  func() []int32

	mu    sync.Mutex
	due   map[int32]time.Time // when a tick is due before the regular one
	marks map[int32]mark
	woken chan struct{}
}

// mark is when a tick was written, by the brokers' clock, and when it was read, by ours.
type mark struct {
	written int64 // Unix milliseconds
	read    time.Time
}

func (m mark) time(at time.Time) int64 { return m.written + at.Sub(m.read).Milliseconds() }

func newClock(set Settings, owned func() []int32) *clock {
	return &clock{log: set.Logger, topics: set.Topics, owned: owned, due: make(map[int32]time.Time), marks: make(map[int32]mark), woken: make(chan struct{}, 1)}
}

// again has a partition's clock tick after some time, whatever it was told before.
func (c *clock) again(num int32, after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due[num] = time.Now().Add(after)
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// heard takes in a tick of a partition that was read at now.
func (c *clock) heard(num int32, written int64, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.marks[num] = mark{written, now}
}

// least is what time it was at a moment by the brokers' clock, or a little earlier: when a tick
// was written is when it was read, or before that. Before the first tick of a partition was
// read those of others tell; 0 before any was: such a tick moves no clock.
func (c *clock) least(num int32, at time.Time) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, known := c.marks[num]; known {
		return m.time(at)
	}
	var least int64
	for _, m := range c.marks {
		if t := m.time(at); least == 0 || t < least {
			least = t
		}
	}
	return least
}

// run ticks until ctx ends.
func (c *clock) run(ctx context.Context, options []kgo.Opt) error {
	// A tick may be written twice, and must not keep the stage from stopping while no broker answers.
	cl, err := kgo.NewClient(slices.Concat(options, []kgo.Opt{
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0), kgo.AllowIdempotentProduceCancellation(),
	})...)
	if err != nil {
		return fmt.Errorf("create the client of the partitions' clocks: %w", err)
	}
	defer cl.Close()
	every := time.NewTicker(tickEvery)
	defer every.Stop()
	soon := time.NewTimer(0)
	defer soon.Stop()
	for {
		var nums []int32
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
			nums = c.owned()
		case <-c.woken:
		case <-soon.C:
			nums = c.taken(time.Now())
		}
		if len(nums) > 0 {
			c.tick(ctx, cl, nums)
			waiting.Sleep(ctx, tickAtOnce)
		}
		if at := c.next(); !at.IsZero() {
			soon.Reset(time.Until(at))
		}
	}
}

// next is when a tick is due before the regular one; zero: none is.
func (c *clock) next() (next time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range c.due {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// taken are those partitions whose tick is due and that are still this process's.
func (c *clock) taken(now time.Time) []int32 {
	owned := c.owned()
	c.mu.Lock()
	defer c.mu.Unlock()
	var nums []int32
	for num, at := range c.due {
		if at.After(now) {
			continue
		}
		delete(c.due, num)
		if slices.Contains(owned, num) {
			nums = append(nums, num)
		}
	}
	slices.Sort(nums)
	return nums
}

// tick writes a tick for each of some partitions. One that fails is not missed: the next
// one comes.
func (c *clock) tick(ctx context.Context, cl *kgo.Client, nums []int32) {
	ctx, done := context.WithTimeout(ctx, tickTime)
	defer done()
	asked := time.Now()
	ends, err := c.topics.Ends(ctx, schemas.TopicRawEvents)
	var records []*kgo.Record
	for _, num := range nums {
		if end, told := ends[schemas.TopicRawEvents][num]; told {
			m := message.Message{Kind: message.Tick, End: end, At: c.least(num, asked), Late: time.Since(asked).Milliseconds()}
			records = append(records, m.Record(num, ""))
		}
	}
	if len(records) > 0 {
		err = cl.ProduceSync(ctx, records...).FirstErr()
	}
	if err != nil && ctx.Err() == nil {
		c.log.Warn("clocks of partitions can't tick, retrying", "error", err)
	}
}
