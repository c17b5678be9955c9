package regulation

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/txn"
)

// Run is one process's hold on an unfinished regulation. Only the last one that
// was taken can write.
type Run struct {
	id       string
	token    string
	register *Register
	writer   *txn.Writer
	work     Work
}

// Take takes a regulation over from whoever has it, and returns once the register
// has all that they have written. The result is nil when they have finished it.
//
// First the predecessor is fenced: what it has not committed by then it never
// will. Then a record of our own is written, and when the register has that, it
// has all that stands before it.
func (l *Ledger) Take(ctx context.Context, id string, register *Register) (*Run, error) {
	w, err := l.open(ctx, id)
	if err != nil {
		return nil, err
	}
	r := &Run{id: id, token: rand.Text(), register: register, writer: w}
	if err = r.claim(ctx); err != nil {
		r.Close()
		return nil, err
	}
	if r.work.ID == "" {
		err = written(w.Write(ctx, removal(id, nil))) // our own record: nobody else would
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Run) claim(ctx context.Context) error {
	record, err := newRecord(kindRun, r.id, runRecord{r.token})
	if err != nil {
		return err
	}
	if err = r.writer.Write(ctx, []*kgo.Record{record}); err != nil {
		return written(err)
	}
	return r.await(ctx)
}

// await returns once the register has the claim, or one that stands behind it.
func (r *Run) await(ctx context.Context) error {
	for {
		changed := r.register.Changed()
		work, unfinished := r.register.Work(r.id)
		switch {
		case !unfinished || work.Token == r.token:
			r.work = work
			return nil
		case r.register.succeeded(r.id, r.token):
			return ErrTakenOver // before we looked: our token does not come back
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait to see regulation %s taken: %w", r.id, context.Cause(ctx))
		}
	}
}

// Work returns what is left to do.
func (r *Run) Work() Work { return r.work }

// Advance writes events in one transaction with the state that the regulation
// has with them, each batch after the one before it is acknowledged. With a final
// state the ids of its users are removed from the topic. After an error the run is
// of no more use, but after one that is [kafka.TooLarge], about one of the batches.
func (r *Run) Advance(ctx context.Context, next Regulation, batches ...[]*kgo.Record) error {
	// Fencing is what decides; this spares a transaction that would be fenced.
	if r.register.token(r.id) != r.token {
		return ErrTakenOver
	}
	record, err := next.record()
	if err != nil {
		return err
	}
	records := []*kgo.Record{record}
	if next.Status.Final() {
		records = append(records, removal(r.id, r.work.parts)...)
	}
	// The topic `regulations` comes last: from its first record of an open transaction
	// on nobody sees what others write to it, and events may take long to store.
	if err := r.writer.Write(ctx, append(slices.Clip(batches), records)...); err != nil {
		return written(err)
	}
	r.work.Regulation = next
	return nil
}

// Close ends the run. What it has not finished another one may take.
func (r *Run) Close() { r.writer.Close() }
