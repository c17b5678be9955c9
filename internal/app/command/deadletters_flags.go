package command

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
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

func newDeadLetterFlags(name string) *deadLetterFlags {
	return &deadLetterFlags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), now: time.Now()}
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
	f.BoolFunc("again", "redrive also what was redriven before; --again=T: only if that was before T", func(text string) (err error) {
		if text == "true" {
			*before = f.now.Truncate(time.Millisecond)
			return nil
		}
		*before, err = deadletters.ParseTime(text, f.now)
		return err
	})
	return before
}

// parse reads flags and ids, in any order. An id that stands there twice counts
// once.
func (f *deadLetterFlags) parse(args []string, streams settings.Streams) (deadletters.Selection, error) {
	for {
		rest, err := f.flags(args, streams)
		if err != nil || len(rest) == 0 {
			return f.selected, errors.Join(err, f.fault(f.selected.Validate()))
		}
		id, err := deadletters.ParseID(rest[0])
		if err != nil {
			return f.selected, f.fault(err)
		}
		if !slices.Contains(f.selected.IDs, id) {
			f.selected.IDs = append(f.selected.IDs, id)
		}
		args = rest[1:]
	}
}

// flags reads flags up to the first other argument and returns what is left.
func (f *deadLetterFlags) flags(args []string, streams settings.Streams) ([]string, error) {
	if err := parse(f.FlagSet, args, streams); err != nil {
		return nil, err
	}
	return f.Args(), nil
}

func (f *deadLetterFlags) fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", f.Name(), err)
}
