package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
	"golang.org/x/term"

	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/schemas"
)

// Streams are where the process writes: Out is for people and scripts, Err for
// the log.
type Streams struct{ Out, Err *os.File }

const usage = `Anabranch: calls about users in over HTTP, through Kafka, out as signed webhooks.

  anabranch run                             every stage in one process, with an embedded broker unless KAFKA_BROKERS is set
  anabranch ingest|router|webhook-sink      one stage, against KAFKA_BROKERS
  anabranch apply -f FILE [--dry-run]       put a workspace file in force
  anabranch receive [--addr A] [--secret S] a webhook receiver that verifies and prints each delivery
  anabranch dead-letters list|show|redrive  what could not be delivered, and sending it again
  anabranch version
  anabranch help [config]                   this text, or every setting with its default
`

// Main runs the command that args name. The error is for a person to read; the
// process exits with 1.
func Main(ctx context.Context, args []string, streams Streams) error {
	name := "help"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "help", "-h", "--help":
		return help(streams.Out, args)
	case "version", "--version":
		return write(streams.Out, "anabranch "+version()+"\n")
	case "apply":
		return helped(applyCommand(ctx, args, streams))
	case "receive":
		return helped(receiveCommand(ctx, args, streams))
	case "dead-letters":
		return helped(deadLettersCommand(ctx, args, streams))
	}
	if !slices.Contains(Targets(), name) {
		return fmt.Errorf("unknown command %q: `anabranch help` lists those there are", name)
	}
	if len(args) > 0 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
		return help(streams.Out, nil)
	}
	if len(args) > 0 {
		return fmt.Errorf("%s: unexpected argument %q: settings are environment variables, see `anabranch help config`", name, args[0])
	}
	proc, err := newProcess(streams)
	if err != nil {
		return err
	}
	return Run(ctx, name, proc)
}

// newProcess reads the settings and makes the log.
func newProcess(streams Streams) (Process, error) {
	environment := env.ToMap(os.Environ())
	cfg, err := LoadConfig(environment)
	if err != nil {
		return Process{}, err
	}
	log, err := telemetry.NewLogger(streams.Err, cfg.LogLevel, cfg.LogFormat, terminal(streams.Err))
	if err != nil {
		return Process{}, err
	}
	return Process{Config: cfg, Log: log, Out: streams.Out, Color: terminal(streams.Out), Environment: environment}, nil
}

func terminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func help(w io.Writer, args []string) error {
	if len(args) > 0 && args[0] == "config" {
		return WriteReference(w)
	}
	return write(w, usage)
}

func write(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// version is what the build recorded about its origin.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// parseFlags reads the flags of one command, which takes no other arguments.
// Asked for help it prints that and returns flag.ErrHelp.
func parseFlags(flags *flag.FlagSet, args []string, w io.Writer) error {
	var out strings.Builder
	flags.SetOutput(&out)
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return errors.Join(err, write(w, out.String()))
	case err != nil:
		return errors.New(strings.TrimSpace(out.String()))
	case flags.NArg() > 0:
		return fmt.Errorf("%s: unexpected argument %q", flags.Name(), flags.Arg(0))
	}
	return nil
}

// helped: to have been asked for help is no failure.
func helped(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	return err
}

func applyCommand(ctx context.Context, args []string, streams Streams) error {
	flags := flag.NewFlagSet("apply", flag.ContinueOnError)
	file := flags.String("f", "", "the workspace file")
	dryRun := flags.Bool("dry-run", false, "show the difference and change nothing")
	if err := parseFlags(flags, args, streams.Out); err != nil {
		return err
	}
	if *file == "" {
		return errors.New("apply: expected -f FILE")
	}
	proc, err := newProcess(streams)
	if err != nil {
		return err
	}
	return Apply(ctx, proc, *file, *dryRun)
}

func receiveCommand(ctx context.Context, args []string, streams Streams) error {
	flags := flag.NewFlagSet("receive", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:8082", "listen address")
	secret := flags.String("secret", "", "shared secret that deliveries are signed with; empty: not signed")
	if err := parseFlags(flags, args, streams.Out); err != nil {
		return err
	}
	proc, err := newProcess(streams)
	if err != nil {
		return err
	}
	return Receive(ctx, proc, *addr, schemas.Secret(*secret))
}
