package command

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/messagetrace"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/schemas"
)

func violationsCommand(stages pipeline.Stages) Command {
	return Command{
		Name: "violations", Args: "[--json] [--source S] [--since T] [--until T]",
		Summary: "which rules of tracking plans calls have violated, and how often",
		Help: "Counts the calls that a tracking plan marked or blocked, by source, event and rule, with the\n" +
			"newest messageIds of each: `anabranch trace ID` shows what became of them. T is a duration\n" +
			"back (24h), a time (2026-11-21T08:30:00Z) or a date. It reads raw-events and dead-letters,\n" +
			"the newest first, and needs what trace does.",
		Flags: func(set *flag.FlagSet) Run { return violationsFlags(set, stages) },
	}
}

func violationsFlags(set *flag.FlagSet, stages pipeline.Stages) Run {
	a := answering(set, jsonObject)
	now := time.Now()
	of := messagetrace.ViolationsOf{Since: now.Add(-usualTrace).UTC().Truncate(time.Millisecond), Until: now.Add(time.Minute)}
	moment := func(name, usage string, into *time.Time) {
		set.Func(name, usage, func(text string) (err error) {
			*into, err = deadletters.ParseTime(text, now)
			return err
		})
	}
	set.StringVar(&of.Source, "source", "", "only calls of this source")
	moment("since", "only calls stored since: 24h (the default), 2026-11-21T08:30:00Z or 2026-11-21", &of.Since)
	moment("until", "only calls stored before", &of.Until)
	return func(ctx context.Context, program settings.Program, _ []string) error {
		if of.Source != "" && !schemas.ValidID(of.Source) {
			return fmt.Errorf("%s: --source=%s: expected an id, 1 to %d lower-case letters, digits and hyphens", a.name, of.Source, schemas.MaxIDBytes)
		}
		return withTrace(ctx, program, stages, func(log *messagetrace.Log) error {
			found, err := messagetrace.FindViolations(ctx, log, of)
			if err != nil {
				return err
			}
			return one(a, program.Out, found, messagetrace.PrintViolations)
		})
	}
}
