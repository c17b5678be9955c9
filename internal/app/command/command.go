package command

import (
	"context"
	"errors"
	"flag"
	"fmt"

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
	case "doctor":
		return helped(doctorCommand), true
	case "status":
		return helped(statusCommand), true
	case "healthcheck":
		return helped(healthcheckCommand), true
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

// parseFlags is parse for a command that takes no other arguments.
func parseFlags(flags *flag.FlagSet, args []string, streams settings.Streams) error {
	if err := parse(flags, args, streams); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%s: unexpected argument %q", flags.Name(), flags.Arg(0))
	}
	return nil
}
