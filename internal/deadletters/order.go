package deadletters

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

// head is the dead letter of a partition that comes next.
type head struct {
	*Letter

	next func() (*Letter, error, bool)
}

// before orders dead letters by the times at which they were given up.
func before(a, b *head) int {
	return cmp.Or(a.FailedAt().Compare(b.FailedAt()), cmp.Compare(a.ID.Partition, b.ID.Partition))
}

// byTime hands out the selected dead letters of all partitions, of the heads of
// partitions always the earliest. Each partition has a reader of its own, which
// waits while its head does.
func (v *View) byTime(ctx context.Context, yield func(*Letter) error) error {
	var heads []*head
	for _, partition := range slices.Sorted(maps.Keys(v.ranges)) {
		next, stop := iter.Pull2(v.letters(ctx, partition))
		defer stop()
		var err error
		if heads, err = advance(heads, &head{next: next}); err != nil {
			return err
		}
	}
	for len(heads) > 0 {
		first := slices.MinFunc(heads, before)
		heads = slices.DeleteFunc(heads, func(h *head) bool { return h == first })
		if err := yield(first.Letter); err != nil {
			return err
		}
		var err error
		if heads, err = advance(heads, first); err != nil {
			return err
		}
	}
	return nil
}

// advance adds a partition to the others with its next dead letter, if it has one.
func advance(others []*head, h *head) ([]*head, error) {
	letter, err, more := h.next()
	if err != nil || !more {
		return others, err
	}
	h.Letter = letter
	return append(others, h), nil
}

// errEnough ends the reading of a partition of which no more is wanted.
var errEnough = errors.New("enough")

// letters are the selected dead letters of a partition in the order of their
// offsets, or the error that ended them.
func (v *View) letters(ctx context.Context, partition int32) iter.Seq2[*Letter, error] {
	return func(yield func(*Letter, error) bool) {
		err := v.log.read(ctx, schemas.TopicDeadLetters, partition, v.narrow(partition), func(r *kgo.Record) error {
			l := newLetter(r)
			if !v.selected.matches(l) || len(v.ids) > 0 && !v.ids[l.ID] || yield(l, nil) {
				return nil
			}
			return errEnough
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}
