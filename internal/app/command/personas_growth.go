package command

import (
	"context"
	"flag"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/personas/ask"
)

// usualGrowth is how far back a growth goes.
const usualGrowth = 24 * time.Hour

func showGrowth(set *flag.FlagSet) Run {
	a := answering(set, jsonObject)
	now := time.Now()
	since := now.Add(-usualGrowth)
	set.Func("since", "from then on: 24h (the default), 2026-11-21T08:30:00Z or 2026-11-21", func(text string) (err error) {
		since, err = deadletters.ParseTime(text, now)
		return err
	})
	return func(ctx context.Context, program settings.Program, args []string) error {
		if err := a.operands(args, "KEY"); err != nil {
			return err
		}
		return withPersonas(ctx, program, func(log *ask.Log) error {
			g, err := ask.GrowthOf(ctx, log, args[0], since)
			if err != nil {
				return err
			}
			return one(a, program.Out, g, ask.PrintGrowth)
		})
	}
}
