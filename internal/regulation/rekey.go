package regulation

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	random "math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/txn"
	"github.com/anabranch/anabranch/internal/waiting"
)

// suppressions is what a process takes hold of, as of a regulation, to change whom a hash
// stands for, or to remove users under several hashes.
const suppressions = "suppressions"

// maxPause is how long a process waits at most before it takes hold again.
const maxPause = 300 * time.Millisecond

// Keyed tells whether users are suppressed under a key.
func (l *Ledger) Keyed() bool { return l.Register != nil && l.Register.keys != nil }

// Rekey writes suppressed users who were recognised by an earlier key, or without one,
// under the current key, and returns how many. An error of ErrTakenOver says that another
// process did such a thing at the same time; whoever was not written passes by again.
func (l *Ledger) Rekey(ctx context.Context) (users int, err error) {
	if !l.Keyed() {
		return 0, nil
	}
	seen := l.suppressed().passed.take()
	if len(seen) == 0 {
		return 0, nil
	}
	err = l.sole(ctx, func() (records []*kgo.Record, err error) {
		for old, current := range seen {
			if !l.suppressed().has(old) {
				continue // accepted again, or done by another process
			}
			added, err := newRecord(kindSuppression, current.String(), suppressionRecord{})
			removed, err2 := newRecord(kindSuppression, old.String(), nil)
			if err = errors.Join(err, err2); err != nil {
				return nil, err
			}
			records, users = append(records, added, removed), users+1
		}
		return records, nil
	})
	return users, err
}

// unsuppress removes users under each hash that they have. Was one of them just given
// another, that one goes too.
func (l *Ledger) unsuppress(ctx context.Context, r Regulation, users []string) error {
	for {
		err := l.sole(ctx, func() ([]*kgo.Record, error) { return creation(&r, users, l.suppressed()) })
		if !errors.Is(err, ErrTakenOver) || !waiting.Sleep(ctx, random.N(maxPause)) { //nolint:gosec // keeps two processes apart; nobody gains by guessing it
			return err
		}
	}
}

// sole writes records that follow from what is suppressed, while nobody else does: who
// comes later fences this one, and sees all that it has committed. change is called once
// the register has all that was committed before.
func (l *Ledger) sole(ctx context.Context, change func() ([]*kgo.Record, error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	w, err := l.open(ctx, suppressions)
	if err != nil {
		return err
	}
	defer w.Close()
	if err = l.claim(ctx, w); err != nil {
		return err
	}
	records, err := change()
	if err != nil {
		return err
	}
	return written(w.Write(ctx, append(records, removal(suppressions, nil)...)))
}

// claim writes a record and waits until the register has it, and so all before it.
func (l *Ledger) claim(ctx context.Context, w *txn.Writer) error {
	token := rand.Text()
	record, err := newRecord(kindRun, suppressions, runRecord{token})
	if err != nil {
		return err
	}
	if err = w.Write(ctx, []*kgo.Record{record}); err != nil {
		return written(err)
	}
	for {
		changed := l.Register.Changed()
		switch {
		case l.Register.token(suppressions) == token:
			return nil
		case l.Register.succeeded(suppressions, token):
			return ErrTakenOver
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait to see the suppressed users: %w", context.Cause(ctx))
		}
	}
}
