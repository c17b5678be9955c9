package command

import (
	"context"
	"errors"
	"flag"
	"slices"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/console"
	"github.com/anabranch/anabranch/schemas"
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
	applier := console.Applier{Out: proc.Out, Kafka: c.opts, Ensure: everyTopic(c.topics.Ensure, proc.Config.Sink.RetryDelays), Await: c.await}
	return applier.Apply(ctx, file, dryRun)
}

// everyTopic adds all topics of fixed name and those of retries to what is ensured:
// stages create them too, where brokers allow them to, and need not be allowed to
// where somebody has applied a workspace.
func everyTopic(ensure func(context.Context, ...string) error, delays []time.Duration) func(context.Context, ...string) error {
	return func(ctx context.Context, topics ...string) error {
		topics = append(slices.Clone(topics), schemas.TopicRawEvents, schemas.TopicDeadLetters, schemas.TopicRedriven, schemas.TopicWorkspace)
		for _, delay := range delays {
			topics = append(topics, schemas.RetryTopic(delay))
		}
		return ensure(ctx, topics...)
	}
}
