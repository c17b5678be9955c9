package kafka

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Replaceable is a producing client that can be replaced while others produce with
// it. It may be used by many goroutines.
//
// A client holds on to the id of a topic that was deleted, and to have it forget the
// topic (PurgeTopicsFromProducing) is no cure: it would number records from the
// start again under the same producer id. Where the topic is still the same, one
// broker not having known it for a moment, the brokers take such records for
// repetitions: they acknowledge them and store nothing. A new client has a new
// producer id.
type Replaceable struct {
	options []kgo.Opt
	gaveUp  func(error)

	client    atomic.Pointer[kgo.Client]
	replacing sync.Mutex
	retired   sync.WaitGroup // the ends of those that were replaced
	cut       chan struct{}  // closed when those may wait no longer
}

// flushTimeout bounds the wait for what a client has in hand when it ends.
const flushTimeout = 2 * time.Second

// NewReplaceable returns a client with options that has not yet spoken to a broker.
// gaveUp is told why a client ended with records in hand, of which each has told its
// own promise. The error is that of options that do not go together.
func NewReplaceable(options []kgo.Opt, gaveUp func(error)) (*Replaceable, error) {
	r := &Replaceable{options: options, gaveUp: gaveUp, cut: make(chan struct{})}
	return r, r.Replace(nil)
}

// Client is the present one. Whoever may have to replace it keeps it in mind.
func (r *Replaceable) Client() *kgo.Client { return r.client.Load() }

// Replace puts a new client in the place of known, which stores what it has in hand
// for two seconds at most, unless that has been done.
func (r *Replaceable) Replace(known *kgo.Client) error {
	r.replacing.Lock()
	defer r.replacing.Unlock()
	if r.client.Load() != known {
		return nil
	}
	client, err := kgo.NewClient(r.options...)
	if err != nil {
		return fmt.Errorf("create a producer: %w", err)
	}
	r.client.Store(client)
	if known != nil {
		r.retired.Go(func() { r.retire(known) })
	}
	return nil
}

func (r *Replaceable) retire(client *kgo.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	r.retired.Go(func() {
		select {
		case <-r.cut:
			cancel()
		case <-ctx.Done():
		}
	})
	r.end(ctx, client)
}

func (r *Replaceable) end(ctx context.Context, client *kgo.Client) {
	if err := client.Flush(ctx); err != nil {
		r.gaveUp(err)
	}
	client.Close()
}

// Close ends the client, and those it has replaced. What they have in hand is tried
// for two seconds at most, or until ctx ends. It is called once.
func (r *Replaceable) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { close(r.cut) })
	defer stop()
	r.end(ctx, r.client.Load())
	r.retired.Wait()
}
