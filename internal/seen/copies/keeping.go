package copies

import (
	"context"
	"sync"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/seen"
	"github.com/anabranch/anabranch/internal/seen/digest"
)

// Run opens what the sets need, has run run, and closes it.
func (c *Copies) Run(ctx context.Context, run func(context.Context) error) error {
	store, err := seen.Open(seen.Options{Dir: c.set.Dir, Window: c.set.Window, Logger: c.set.Logger, Failed: c.metrics.failed})
	if err != nil {
		return err
	}
	defer store.Close()
	c.mu.Lock()
	c.store = store
	c.mu.Unlock()
	if c.set.Reader {
		return run(ctx)
	}
	writer, err := digest.NewWriter(c.set.Kafka, c.set.Digests, c.undigested)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.writer = writer
	c.mu.Unlock()
	var writing sync.WaitGroup
	defer writing.Wait()
	own, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	writing.Go(func() { writer.Run(own) })
	return run(ctx)
}

func (c *Copies) undigested(err error) {
	c.metrics.failed(digests)
	c.set.Logger.Debug("digest of calls seen was not written, its calls are read where it is missed", "error", err)
}

// Restore gets the sets of partitions, as they are at an offset each.
func (c *Copies) Restore(ctx context.Context, at map[int32]digest.At) error {
	for num := range at {
		c.lose(num) //nolint:contextcheck // it waits for no broker
	}
	restorer := digest.Restorer{
		Log: c.set.Logger, Kafka: c.set.Kafka, Client: c.set.Client,
		Store: c.store, Window: c.set.Window, Calls: c.set.Calls, Digests: c.set.Digests,
	}
	sets, err := restorer.Restore(ctx, at)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for num, set := range sets {
		c.parts[num] = &part{set: set, batch: set.Begin(), calls: digest.Of(at[num].TopicID), next: set.Next()}
	}
	return nil
}

// Lost closes the sets of partitions that are somebody else's, or will be restored.
func (c *Copies) Lost(partitions []kafka.Partition) {
	for _, p := range partitions {
		c.lose(p.Num)
	}
}

func (c *Copies) lose(num int32) {
	c.mu.Lock()
	p := c.parts[num]
	delete(c.parts, num)
	c.mu.Unlock()
	if p == nil {
		return
	}
	if p.set.Err() != nil {
		_ = p.set.Wipe() // which is tried again when it is opened
	} else {
		p.set.Close()
	}
	if c.writer != nil {
		c.writer.Lost(num)
	}
}

// Knows reports whether the calls of a partition are known.
func (c *Copies) Knows(num int32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.parts[num] != nil
}

// counts are those of the sets; zero before there are any.
func (c *Copies) counts() (all, unwritten int) {
	c.mu.Lock()
	store := c.store
	c.mu.Unlock()
	if store == nil {
		return 0, 0
	}
	return store.Counts()
}
