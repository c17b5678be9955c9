package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/internal/pipeline"
)

// Command is what a person types behind `anabranch`, and all that help says of it.
type Command struct {
	Name string
	Args string // as in its synopsis; lines after the first are set below the first argument
	// Summary are the few words of the list of commands. Neighbours with the same one
	// share a line.
	Summary string
	// Help are the sentences before its flags; empty: there is nothing to say beside the
	// synopsis. Settings is the one behind them; empty: where settings are listed.
	Help, Settings string
	// Below are commands below this one, which then does nothing itself.
	Below []Command
	// Operands is true for a command that takes arguments beside flags, in any order.
	Operands bool
	// Flags declares the flags, and returns what is done once they are read.
	Flags func(*flag.FlagSet) Run
	// Role is what its principal must be allowed on the brokers; without a name for one
	// that needs nothing, or what another one needs.
	Role acl.Role
	// Fails is the exit code where it could not do what it is for; zero: 1.
	Fails int
}

// Run does what a command is for. The error is for a person to read.
type Run func(ctx context.Context, program settings.Program, operands []string) error

// All returns the commands that end by themselves, for the stages of a list.
func All(list pipeline.List) []Command {
	stages := list.Make()
	return []Command{applyCommand(stages), appliedCommand(), receiveCommand(), statusCommand(stages), doctorCommand(stages), traceCommand(stages), violationsCommand(stages), auditCommand(), deadLettersCommand(), destinationsCommand(), testSendCommand(), importCommand(), replayCommand(), personasCommand(), healthcheckCommand()}
}

// Roles returns those of commands and of the commands below them.
func Roles(all []Command) (roles []acl.Role) {
	for i := range all {
		if all[i].Role.Name != "" {
			roles = append(roles, all[i].Role)
		}
		roles = append(roles, Roles(all[i].Below)...)
	}
	return roles
}

// Find returns the command that a line names, by its full name, and the rest of the
// line. Of commands that have others below them it is one of those, unless the line
// asks for help. A stage and such commands may share a name: a line with no word behind
// it is the stage's, whose help then has them too.
func Find(all []Command, line []string) (*Command, []string, error) {
	named := slices.DeleteFunc(slices.Clone(all), func(c Command) bool { return c.Name != line[0] })
	rest := line[1:]
	switch {
	case len(named) == 0:
		return nil, nil, fmt.Errorf("unknown command %q: `anabranch help` lists all commands", line[0])
	case len(named) == 1:
		return named[0].find(rest)
	case len(rest) > 0 && !strings.HasPrefix(rest[0], "-"):
		return named[1].find(rest)
	}
	stage := named[0]
	stage.Settings += "\n\n" + strings.TrimSuffix(named[1].Usage(), "\n")
	return &stage, rest, nil
}

func (c *Command) find(rest []string) (*Command, []string, error) {
	if len(c.Below) == 0 || len(rest) > 0 && asksForHelp(rest[0]) {
		return c, rest, nil
	}
	names := c.below()
	expected := strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
	if len(rest) == 0 {
		return nil, nil, fmt.Errorf("%s: expected %s", c.Name, expected)
	}
	name, rest := rest[0], rest[1:]
	i := slices.Index(names, name)
	if i < 0 {
		return nil, nil, fmt.Errorf("%s: unknown command %q: expected %s", c.Name, name, expected)
	}
	below := c.Below[i]
	below.Name = c.Name + " " + name
	return below.find(rest)
}

// below are the names of the commands below this one.
func (c *Command) below() []string {
	names := make([]string, len(c.Below))
	for i := range c.Below {
		names[i] = c.Below[i].Name
	}
	return names
}

func asksForHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

// Do runs the command with the arguments behind its name. To have been asked for help
// is no failure.
func (c *Command) Do(ctx context.Context, program settings.Program, args []string) error {
	return exiting(c.do(ctx, program, args), c.Fails)
}

func (c *Command) do(ctx context.Context, program settings.Program, args []string) error {
	flags, run := c.declare()
	operands, err := parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return program.Print(c.Usage())
	case err != nil:
		return fmt.Errorf("%s: %w: see `anabranch %s -h`", c.Name, err, c.Name)
	case len(operands) > 0 && !c.Operands:
		return fmt.Errorf("%s: unexpected argument %q: see `anabranch %s -h`", c.Name, operands[0], c.Name)
	}
	return run(ctx, program, operands)
}

func (c *Command) declare() (*flag.FlagSet, Run) {
	flags := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	flags.SetOutput(new(strings.Builder))
	flags.Usage = func() {}
	if c.Flags == nil {
		return flags, nil
	}
	return flags, c.Flags(flags)
}

// parse reads flags and returns the other arguments.
func parse(flags *flag.FlagSet, args []string) (operands []string, err error) {
	for {
		if err = flags.Parse(args); err != nil || flags.NArg() == 0 {
			return operands, err
		}
		operands, args = append(operands, flags.Arg(0)), flags.Args()[1:]
	}
}
