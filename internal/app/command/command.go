package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/anabranch/anabranch/internal/app/settings"
)

// Func runs a command with the arguments after its name. The error is for a person
// to read.
type Func func(ctx context.Context, args []string, streams settings.Streams) error

// Named returns the command of a name, false when there is none.
func Named(name string) (Func, bool) {
	switch name {
	case "apply":
		return helped(applyCommand), true
	case "receive":
		return helped(receiveCommand), true
	case "dead-letters":
		return helped(deadLettersCommand), true
	}
	return nil, false
}

// helped: to have been asked for help is no failure.
func helped(run Func) Func {
	return func(ctx context.Context, args []string, streams settings.Streams) error {
		err := run(ctx, args, streams)
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
}

// parseFlags reads the flags of one command, which takes no other arguments.
// Asked for help it prints that and returns flag.ErrHelp.
func parseFlags(flags *flag.FlagSet, args []string, streams settings.Streams) error {
	var out strings.Builder
	flags.SetOutput(&out)
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return errors.Join(err, streams.Print(out.String()))
	case err != nil:
		return errors.New(strings.TrimSpace(out.String()))
	case flags.NArg() > 0:
		return fmt.Errorf("%s: unexpected argument %q", flags.Name(), flags.Arg(0))
	}
	return nil
}
