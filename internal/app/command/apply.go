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
	return c.apply(ctx, proc, file, dryRun)
}

func (c *connection) apply(ctx context.Context, proc settings.Process, file string, dryRun bool) error {
	// Thousands of topics take minutes, so what is bounded is the time in which nothing
	// is heard of them.
	ctx, heard := whileHeard(ctx, commandTimeout)
	defer heard.stop()
	applier := console.Applier{
		Out: proc.Out, Terminal: proc.Color, Embedded: proc.Config.Embedded(), Kafka: c.opts, Await: c.await,
		Ensure: func(ctx context.Context, progress func(done, total int), topics ...string) error {
			defer heard.again()
			return c.topics.EnsureInSteps(ctx, func(done, total int) {
				heard.again()
				progress(done, total)
			}, withFixed(topics, proc.Config.Sink.RetryDelays)...)
		},
	}
	return heard.explain(ctx, applier.Apply(ctx, file, dryRun))
}

// withFixed adds all topics of fixed name and those of retries to those that are
// needed: stages create them too, where brokers allow them to, and need not be allowed
// to where somebody has applied a workspace.
func withFixed(topics []string, delays []time.Duration) []string {
	topics = append(slices.Clone(topics), schemas.TopicRawEvents, schemas.TopicDeadLetters, schemas.TopicRedriven, schemas.TopicWorkspace)
	for _, delay := range delays {
		topics = append(topics, schemas.RetryTopic(delay))
	}
	return topics
}
