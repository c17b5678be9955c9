package backfill

import (
	"context"
	"log/slog"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/seen"
	"github.com/anabranch/anabranch/internal/seen/digest"
	"github.com/anabranch/anabranch/schemas"
)

// past knows which calls were seen where a backfill is, which is not where the stage is.
type past struct {
	set Settings

	opening sync.Mutex
	store   *seen.Store // nil: nobody has asked yet

	mu    sync.Mutex
	parts map[int32]*known
}

// known is what is known of a partition's calls.
type known struct {
	sync.Mutex

	set   *seen.Set // nil: nothing
	calls *digest.Calls
}

func (p *past) of(num int32) *known {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parts[num] == nil {
		p.parts[num] = new(known)
	}
	return p.parts[num]
}

// drop returns those of the records between two offsets that are no copies. What was before
// is read from the brokers where it is not known from the last time.
func (p *past) drop(ctx context.Context, num int32, from, next int64, records []*kgo.Record) ([]*kgo.Record, error) {
	if p.set.Window == 0 {
		return records, nil
	}
	k := p.of(num)
	k.Lock()
	defer k.Unlock()
	if err := p.begin(ctx, k, num, from); err != nil {
		return nil, err
	}
	batch := k.set.Begin()
	var first []*kgo.Record
	for _, rec := range records {
		again := false
		if fp, ok := k.calls.Fingerprint(rec); ok {
			var err error
			if again, err = batch.Seen(fp, rec.Offset, rec.Timestamp); err != nil {
				k.close()
				return nil, err
			}
		}
		if !again {
			first = append(first, rec)
		}
	}
	batch.Commit(next)
	return first, nil
}

// begin sees to it that the calls before an offset are known, and no others.
func (p *past) begin(ctx context.Context, k *known, num int32, from int64) error {
	if k.set != nil && k.set.Next() == from {
		return nil
	}
	k.close()
	store, err := p.open()
	if err != nil {
		return err
	}
	id, err := p.set.Topics.ID(ctx, schemas.TopicRawEvents)
	if err != nil {
		return err
	}
	restorer := digest.Restorer{
		Log: slog.New(slog.DiscardHandler), Kafka: p.set.Kafka, Client: p.set.Topics.Client,
		Store: store, Window: p.set.Window, Calls: schemas.TopicRawEvents, Digests: schemas.TopicSeen,
	}
	sets, err := restorer.Restore(ctx, map[int32]digest.At{num: {Next: from, TopicID: id}})
	if err != nil {
		return err
	}
	k.set, k.calls = sets[num], digest.Of(id)
	return nil
}

// open opens the store, whose files have no names, when it is needed first.
func (p *past) open() (*seen.Store, error) {
	p.opening.Lock()
	defer p.opening.Unlock()
	if p.store != nil {
		return p.store, nil
	}
	store, err := seen.Open(seen.Options{Window: p.set.Window, Logger: p.set.Logger, Failed: func(string) {}})
	p.store = store
	return store, err
}

func (k *known) close() {
	if k.set != nil {
		k.set.Close()
		k.set = nil
	}
}

// forget frees what is known of a partition: its backfill has ended, or is somebody else's.
func (p *past) forget(num int32) {
	k := p.of(num)
	if k.TryLock() { // whoever reads now forgets it the next time
		defer k.Unlock()
		k.close()
	}
}

// close closes the store, of which nobody reads any more.
func (p *past) close() {
	if p.store != nil {
		p.store.Close()
	}
}
