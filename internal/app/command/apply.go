package command

import (
	"context"
	"errors"
	"flag"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/console"
)

func applyCommand(ctx context.Context, args []string, streams settings.Streams) error {
	flags := flag.NewFlagSet("apply", flag.ContinueOnError)
	file := flags.String("f", "", "the workspace file")
	dryRun := flags.Bool("dry-run", false, "show the difference and change nothing")
	if err := parseFlags(flags, args, streams); err != nil {
		return err
	}
	if *file == "" {
		return errors.New("apply: expected -f FILE")
	}
	proc, err := settings.Open(streams)
	if err != nil {
		return err
	}
	return Apply(ctx, proc, *file, *dryRun)
}

// Apply puts a workspace file in force on KAFKA_BROKERS, else on the embedded
// broker of a running `anabranch run`.
func Apply(ctx context.Context, proc settings.Process, file string, dryRun bool) error {
	c, err := connect(proc)
	if err != nil {
		return err
	}
	defer c.close()
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	applier := console.Applier{Out: proc.Out, Kafka: c.opts, Ensure: c.topics.Ensure, Await: c.await}
	return applier.Apply(ctx, file, dryRun)
}
