package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/deadletters/listing"
	"github.com/anabranch/anabranch/internal/deadletters/redrive"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
)

const deadLettersUsage = `Usage of dead-letters:

  anabranch dead-letters list [--json] [--destination D] [--reason R] [--since T]
  anabranch dead-letters show [--json] ID
  anabranch dead-letters redrive ID... | --destination D | --reason R | --since T | --all
                         [--rate N] [--dry-run] [--again]

An ID is <partition>-<offset>, as list prints it. T is a duration back (24h), a time
(2026-11-21T08:30:00Z) or a date. What was redriven is left out, unless --again is given.
` + "`anabranch dead-letters redrive -h` explains the flags.\n"

// deadLettersCommand runs one of the commands below dead-letters.
func deadLettersCommand(ctx context.Context, args []string, streams settings.Streams) error {
	if len(args) == 0 {
		return errors.New("dead-letters: expected list, show or redrive")
	}
	name, args := args[0], args[1:]
	switch name {
	case "-h", "-help", "--help":
		return streams.Print(deadLettersUsage)
	case "list":
		return listDeadLetters(ctx, args, streams)
	case "show":
		return showDeadLetter(ctx, args, streams)
	case "redrive":
		return redriveDeadLetters(ctx, args, streams)
	}
	return fmt.Errorf("dead-letters: unknown command %q: expected list, show or redrive", name)
}

func listDeadLetters(ctx context.Context, args []string, streams settings.Streams) error {
	flags := newDeadLetterFlags("dead-letters list")
	flags.selecting()
	asJSON := flags.Bool("json", false, "print one JSON object a line")
	selected, err := flags.parse(args, streams)
	if err != nil {
		return err
	}
	if len(selected.IDs) > 0 {
		return fmt.Errorf("%s: unexpected argument %q", flags.Name(), selected.IDs[0])
	}
	return withDeadLetters(ctx, streams, func(log *deadletters.Log) error {
		if *asJSON {
			return listing.JSON(ctx, log, selected, streams.Out)
		}
		return listing.Table(ctx, log, selected, streams.Out)
	})
}

func showDeadLetter(ctx context.Context, args []string, streams settings.Streams) error {
	flags := newDeadLetterFlags("dead-letters show")
	asJSON := flags.Bool("json", false, "print the event alone, as it is")
	selected, err := flags.parse(args, streams)
	if err != nil {
		return err
	}
	if len(selected.IDs) != 1 {
		return fmt.Errorf("%s: found %d ids, expected one", flags.Name(), len(selected.IDs))
	}
	return withDeadLetters(ctx, streams, func(log *deadletters.Log) error {
		if *asJSON {
			return listing.Event(ctx, log, selected.IDs[0], streams.Out)
		}
		return listing.Show(ctx, log, selected.IDs[0], streams.Out)
	})
}

func redriveDeadLetters(ctx context.Context, args []string, streams settings.Streams) error {
	flags := newDeadLetterFlags("dead-letters redrive")
	flags.selecting()
	all := flags.Bool("all", false, "redrive every dead letter")
	rate := flags.rate()
	dryRun := flags.Bool("dry-run", false, "show what would be done and do nothing")
	again := flags.again()
	selected, err := flags.parse(args, streams)
	switch {
	case err != nil:
		return err
	case selected.All() && !*all:
		return fmt.Errorf("%s: expected ids, --destination, --reason or --since; --all redrives every dead letter", flags.Name())
	case !selected.All() && *all:
		return fmt.Errorf("%s: expected either a selection or --all, found both", flags.Name())
	}
	return withDeadLetters(ctx, streams, func(log *deadletters.Log) error {
		users := regulation.NewRegister()
		state, readErr := inTime(ctx, func(ctx context.Context) (wstopic.State, error) { return wstopic.ReadWith(ctx, log.Kafka, users) })
		if readErr != nil {
			return readErr
		}
		return redrive.Run(ctx, redrive.Settings{
			Log: log, Workspace: state.Snapshot, Suppressed: users.Suppressed.Has,
			Out: streams.Out, Err: streams.Err, Terminal: settings.Terminal(streams.Err),
			Selection: selected, Rate: *rate, DryRun: *dryRun, Again: *again,
		})
	})
}

// withDeadLetters connects to the brokers and gives up when none answers in time.
// What do does with them has bounds of its own: to read a long topic takes longer
// than to find out that nobody is there.
func withDeadLetters(ctx context.Context, streams settings.Streams, do func(*deadletters.Log) error) error {
	proc, err := settings.Open(streams)
	if err != nil {
		return err
	}
	c, err := connect(proc)
	if err != nil {
		return err
	}
	defer c.close()
	if _, err = inTime(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, c.await(ctx) }); err != nil {
		return err
	}
	return do(&deadletters.Log{Kafka: c.opts, Topics: c.topics})
}

// inTime calls do with the time that a command has for what takes no time when a
// broker answers.
func inTime[T any](ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	return do(ctx)
}
