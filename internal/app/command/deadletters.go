package command

import (
	"context"
	"flag"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/deadletters/listing"
	"github.com/anabranch/anabranch/internal/deadletters/redrive"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
)

func deadLettersCommand() Command {
	return Command{
		Name:    "dead-letters",
		Summary: "what could not be delivered, and sending it again",
		Help: "An ID is <partition>-<offset>, as list prints it. T is a duration back (24h), a time\n" +
			"(2026-11-21T08:30:00Z) or a date. What was redriven is left out, unless --again is given.\n" +
			"`anabranch dead-letters redrive -h` explains the flags.",
		Below: []Command{
			{
				Name: "list", Args: "[--json] [--destination D] [--reason R] [--since T]",
				Help:  "Shows what could not be delivered, the oldest first, and how much by destination and reason.",
				Flags: listDeadLetters, Role: listing.Role(),
			},
			{
				Name: "show", Args: "[--json] ID", Operands: true,
				Help:  "Shows all that is known of one dead letter, and its event.",
				Flags: showDeadLetter,
			},
			{
				Name: "redrive", Args: "ID... | --destination D | --reason R | --since T | --all\n[--rate N] [--dry-run] [--again]", Operands: true,
				Help:  "Sends dead letters again, as fresh events with the same messageId. What a run has sent\nis not sent again: an interrupted run is simply started again.",
				Flags: redriveDeadLetters, Role: redrive.Role(),
			},
		},
	}
}

func listDeadLetters(set *flag.FlagSet) Run {
	flags := newDeadLetterFlags(set)
	flags.selecting()
	asJSON := flags.Bool("json", false, "print one JSON object per line")
	return func(ctx context.Context, program settings.Program, ids []string) error {
		selected, err := flags.selection(ids)
		if err != nil {
			return err
		}
		return withDeadLetters(ctx, program, func(log *deadletters.Log, _ *regulation.Keys) error {
			if *asJSON {
				return listing.JSON(ctx, log, selected, program.Out)
			}
			return listing.Table(ctx, log, selected, program.Out)
		})
	}
}

func showDeadLetter(set *flag.FlagSet) Run {
	flags := newDeadLetterFlags(set)
	asJSON := flags.Bool("json", false, "print the event alone, as it is")
	return func(ctx context.Context, program settings.Program, ids []string) error {
		selected, err := flags.selection(ids)
		if err != nil {
			return err
		}
		if len(selected.IDs) != 1 {
			return fmt.Errorf("%s: found %d ids, expected one", flags.Name(), len(selected.IDs))
		}
		return withDeadLetters(ctx, program, func(log *deadletters.Log, _ *regulation.Keys) error {
			if *asJSON {
				return listing.Event(ctx, log, selected.IDs[0], program.Out)
			}
			return listing.Show(ctx, log, selected.IDs[0], program.Out)
		})
	}
}

func redriveDeadLetters(set *flag.FlagSet) Run {
	flags := newDeadLetterFlags(set)
	flags.selecting()
	all := flags.Bool("all", false, "redrive every dead letter")
	rate := flags.rate()
	dryRun := flags.Bool("dry-run", false, "show what would be done and do nothing")
	again := flags.again()
	ignore := flags.Bool("ignore-missing-key", false, "send events of users, too, who are suppressed under a key that SUPPRESSION_KEY lacks")
	return func(ctx context.Context, program settings.Program, ids []string) error {
		selected, err := flags.selection(ids)
		switch {
		case err != nil:
			return err
		case selected.All() && !*all:
			return fmt.Errorf("%s: expected ids, --destination, --reason or --since; --all redrives every dead letter", flags.Name())
		case !selected.All() && *all:
			return fmt.Errorf("%s: expected either a selection or --all, found both", flags.Name())
		}
		return withDeadLetters(ctx, program, func(log *deadletters.Log, keys *regulation.Keys) error {
			state, users, readErr := inForce(ctx, log.Kafka, keys)
			if readErr != nil {
				return readErr
			}
			if readErr = users.Suppressed.Recognised(); readErr != nil && !*ignore {
				return fmt.Errorf("%w, or, if the keys are lost, give --ignore-missing-key", readErr)
			}
			return redrive.Run(ctx, redrive.Settings{
				Log: log, Workspace: state.Snapshot, Suppressed: users.Suppressed.Has,
				Out: program.Out, Err: program.Err, Terminal: settings.Terminal(program.Err),
				Selection: selected, Rate: *rate, DryRun: *dryRun, Again: *again,
			})
		})
	}
}

// inForce reads the workspace, and what holds for single users.
func inForce(ctx context.Context, opts []kgo.Opt, keys *regulation.Keys) (wstopic.State, *regulation.Register, error) {
	users := regulation.NewRegister(keys, nil)
	state, err := inTime(ctx, func(ctx context.Context) (wstopic.State, error) {
		return wstopic.ReadWith(ctx, opts, users.Former())
	})
	if err == nil {
		_, err = inTime(ctx, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, wstopic.ReadRegulations(ctx, opts, users)
		})
	}
	return state, users, err
}

func withDeadLetters(ctx context.Context, program settings.Program, do func(*deadletters.Log, *regulation.Keys) error) error {
	return beside(ctx, program, func(proc settings.Process, c *connection) error {
		return do(c.log(), proc.Config.SuppressionKeys())
	})
}

// inTime calls do with the time that a command has for what takes no time when a
// broker answers.
func inTime[T any](ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	return do(ctx)
}
