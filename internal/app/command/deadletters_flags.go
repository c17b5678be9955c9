package command

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/deadletters/redrive"
	"github.com/anabranch/anabranch/schemas"
)

// deadLetterFlags are the flags and ids of one command below dead-letters.
type deadLetterFlags struct {
	*flag.FlagSet

	now      time.Time
	selected deadletters.Selection
}

func newDeadLetterFlags(set *flag.FlagSet) *deadLetterFlags {
	return &deadLetterFlags{FlagSet: set, now: time.Now()}
}

// selecting adds the flags that filter.
func (f *deadLetterFlags) selecting() {
	f.StringVar(&f.selected.Destination, "destination", "", "only those of this destination")
	f.Func("reason", "only those given up for this reason", func(text string) error {
		f.selected.Reason = schemas.Reason(text)
		return nil
	})
	f.Func("since", "only those given up since: 24h, 2026-11-21T08:30:00Z or 2026-11-21", func(text string) (err error) {
		f.selected.Since, err = deadletters.ParseTime(text, f.now)
		return err
	})
}

const usualRate = 100

// rate adds --rate, in events a second.
func (f *deadLetterFlags) rate() *int {
	rate := new(int)
	*rate = usualRate
	f.Func("rate", fmt.Sprintf("events a second, 1 to %d (default %d)", redrive.MaxRate, usualRate), func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > redrive.MaxRate {
			return fmt.Errorf("expected a whole number of events a second, 1 to %d", redrive.MaxRate)
		}
		*rate = n
		return nil
	})
	return rate
}

// again adds --again, which means now, and --again=T, which means all that was
// redriven before T: with it a run that was interrupted goes on.
func (f *deadLetterFlags) again() *time.Time {
	before := new(time.Time)
	f.BoolFunc("again", "also redrive what was redriven before; --again=T: only if that was before T", func(text string) (err error) {
		if text == "true" {
			*before = f.now.Truncate(time.Millisecond)
			return nil
		}
		*before, err = deadletters.ParseTime(text, f.now)
		return err
	})
	return before
}

// selection is what flags and ids select. An id that stands there twice counts once.
func (f *deadLetterFlags) selection(ids []string) (deadletters.Selection, error) {
	for _, text := range ids {
		id, err := deadletters.ParseID(text)
		if err != nil {
			return f.selected, fmt.Errorf("%s: %w", f.Name(), err)
		}
		if !slices.Contains(f.selected.IDs, id) {
			f.selected.IDs = append(f.selected.IDs, id)
		}
	}
	if err := f.selected.Validate(); err != nil {
		return f.selected, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return f.selected, nil
}
