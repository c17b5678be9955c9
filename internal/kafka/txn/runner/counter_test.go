package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// changelog is where the state of a counter is kept, and calls what it says.
const (
	changelog = "deliver.changelog"
	calls     = "deliver.calls"
)

// echoes is the second topic of a counter of two, with as many partitions as the first. It is
// no output, by its name: what is in one shows that an installation is not new.
const echoes = schemas.TopicPersonasInternal

// counter is a stage with state: how often each key has come, on all that it reads. It
// says each new number.
type counter struct {
	*bench

	// restoring is called with each restore, before it is done.
	restoring func(ctx context.Context) error

	mu    sync.Mutex
	parts map[int32]*counts

	// overlay is what the transaction in the making changes, by the state that it began
	// with. If that is another's by its end, or the transaction is aborted, it is dropped.
	overlay                             map[*counts]map[string]int
	last                                map[string]*kgo.Record
	applied, aborted, unknown, restored int
}

// counts is the state of a partition. It is replaced as a whole when the partition is
// assigned again.
type counts struct {
	partition int32
	n         map[string]int
}

func newCounter(b *bench) *counter {
	return &counter{
		bench: b, parts: make(map[int32]*counts),
		overlay: make(map[*counts]map[string]int), last: make(map[string]*kgo.Record),
		restoring: func(context.Context) error { return nil },
	}
}

func (c *counter) Prepare(context.Context, kgo.Fetches, time.Duration) (int, error) { return 2, nil }

func (c *counter) part(num int32) *counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.parts[num]
}

func (c *counter) Process(ctx context.Context, t *Transaction, rec *kgo.Record) int {
	part, key := c.part(rec.Partition), string(rec.Key)
	if part == nil {
		t.Drop() // lost meanwhile
		return 0
	}
	changed := c.overlay[part]
	if changed == nil {
		changed = make(map[string]int)
		c.overlay[part] = changed
	}
	if _, known := changed[key]; !known {
		changed[key] = part.n[key]
	}
	changed[key]++
	c.last[key] = rec
	t.Write(ctx, rec, &kgo.Record{Topic: calls, Partition: rec.Partition, Key: rec.Key, Value: strconv.AppendInt(nil, int64(changed[key]), 10)})
	return 1
}

// Complete writes each changed number once, and with each partition where it goes on.
func (c *counter) Complete(ctx context.Context, t *Transaction) {
	for part, changed := range c.overlay {
		for key, n := range changed {
			t.Write(ctx, c.last[key], &kgo.Record{Topic: changelog, Partition: part.partition, Key: []byte(key), Value: strconv.AppendInt(nil, int64(n), 10)})
		}
	}
	for p, next := range t.Next() {
		meta := &kgo.Record{Topic: changelog, Partition: p.Num, Value: strconv.AppendInt(nil, next, 10), Headers: []kgo.RecordHeader{{Key: p.Topic}}}
		t.Write(ctx, &kgo.Record{Topic: p.Topic, Partition: p.Num, Offset: next}, meta)
	}
}

func (c *counter) Ended(_ *Transaction, outcome Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch outcome {
	case Committed:
		for part, changed := range c.overlay {
			if c.parts[part.partition] == part {
				maps.Copy(part.n, changed)
				c.applied++
			}
		}
	case Aborted:
		c.aborted++
	case Unknown:
		c.unknown++
	}
	clear(c.overlay)
	clear(c.last)
}

func (c *counter) Restore(ctx context.Context, at map[kafka.Partition]Place) error {
	if err := c.restoring(ctx); err != nil {
		return err
	}
	nums := make(map[int32]bool)
	for p := range at {
		nums[p.Num] = true
	}
	for num := range nums {
		n, kept, err := c.read(ctx, num)
		if err != nil {
			return err
		}
		for p, place := range at {
			if p.Num == num && kept[p.Topic] != place.Next {
				return fmt.Errorf("state of %s is of offset %d, and processing begins at %d", p, kept[p.Topic], place.Next)
			}
		}
		c.mu.Lock()
		c.parts[num], c.restored = &counts{num, n}, c.restored+1
		c.mu.Unlock()
	}
	return nil
}

func (c *counter) Lost(partitions []kafka.Partition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range partitions {
		delete(c.parts, p.Num)
	}
}

// read reads a partition of the changelog to its very end: what was committed may not be
// readable yet, for want of a marker.
func (c *counter) read(ctx context.Context, num int32) (n map[string]int, next map[string]int64, err error) {
	extents, err := c.topics.Extents(ctx, changelog)
	if err != nil {
		return nil, nil, err
	}
	n, next = make(map[string]int), make(map[string]int64)
	if extents[changelog][num].End == 0 {
		return n, next, nil
	}
	cl, err := kgo.NewClient(append(c.Options(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{changelog: {num: kgo.NewOffset().AtStart()}}),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords())...)
	if err != nil {
		return nil, nil, err
	}
	defer cl.Close()
	for read := int64(0); read < extents[changelog][num].End; {
		fetches := cl.PollFetches(ctx)
		if err := errors.Join(fetches.Err(), ctx.Err()); err != nil {
			return nil, nil, err
		}
		for _, rec := range fetches.Records() {
			read = rec.Offset + 1
			value, _ := strconv.Atoi(string(rec.Value))
			switch {
			case rec.Attrs.IsControl():
			case len(rec.Key) == 0:
				next[rec.Headers[0].Key] = int64(value)
			default:
				n[string(rec.Key)] = value
			}
		}
	}
	return n, next, nil
}

// newCounting is a bench with the topics of a counter.
func newCounting(t *testing.T, c *testkit.Cluster) *bench {
	t.Helper()
	b := newBench(t, c)
	b.CreateTopics(t, int32(topicConfig.Partitions), changelog, calls, echoes)
	return b
}

// counting returns a runner of a counter, on a cable of its own.
func (b *bench) counting(t *testing.T, id, static string, changes ...func(*Settings)) (*counter, *running, *cable) {
	t.Helper()
	stage := newCounter(b)
	change, cable := onCable(id, static)
	own := func(set *Settings) {
		set.Returns, set.Options = true, []kgo.Opt{kgo.RecordPartitioner(kgo.ManualPartitioner())}
	}
	return stage, b.running(t, stage, append([]func(*Settings){change, own}, changes...)...), cable
}

// ofTwo has a counter read two topics, whose partitions of one number sit together.
func ofTwo(set *Settings) {
	set.Sources, set.Balancer = []string{source, echoes}, kgo.RangeBalancer()
}

// said waits until a key has come so often, and checks that each number was said
// once, in order.
func (b *bench) said(t *testing.T, want map[string]int) {
	t.Helper()
	sum := 0
	for _, n := range want {
		sum += n
	}
	got := make(map[string]int)
	for _, rec := range b.ReadAll(t, calls, sum) {
		if got[string(rec.Key)]++; string(rec.Value) != strconv.Itoa(got[string(rec.Key)]) {
			t.Fatalf("%s: %s was said where %d was due", rec.Key, rec.Value, got[string(rec.Key)])
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("said %v, want %v", got, want)
	}
}
