package command

import (
	"cmp"
	"context"
	"errors"
	"flag"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/apply"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/schemas"
)

func applyCommand(stages pipeline.Stages) Command {
	return Command{
		Name: "apply", Args: "-f FILE [--by NAME] [--dry-run]",
		Summary: "apply a workspace file",
		Help:    "Applies a workspace file and prints what changed. A file with mistakes changes\nnothing; all of them are listed, with line and path. With SECRETS_KEY the secrets of\ndestinations are encrypted in the topic, and again when its first key is a new one.",
		Role:    apply.Role(stages),
		Flags: func(flags *flag.FlagSet) Run {
			file := flags.String("f", "", "the workspace file")
			dryRun := flags.Bool("dry-run", false, "show the difference and change nothing")
			by := flags.String("by", "", "who applies it, for those who look at the history; the user of this machine if left out")
			inTheClear := flags.Bool("clear-secrets", false, "write the secrets of destinations in the clear, which an earlier release needs")
			return func(ctx context.Context, program settings.Program, _ []string) error {
				if *file == "" {
					return errors.New("apply: expected -f FILE")
				}
				proc, err := program.OpenBeside()
				if err != nil {
					return err
				}
				return Apply(ctx, proc, *file, Applying{DryRun: *dryRun, ClearSecrets: *inTheClear, By: cmp.Or(*by, userName())})
			}
		},
	}
}

// Applying is how a workspace file is applied.
type Applying struct {
	DryRun       bool   // nothing is changed
	By           string // who applies it; empty: not known
	ClearSecrets bool   // secrets are written in the clear, whatever SECRETS_KEY says
}

// Apply puts a workspace file in force on KAFKA_BROKERS, else on the embedded
// broker of a running `anabranch run`.
func Apply(ctx context.Context, proc settings.Process, file string, how Applying) error {
	c, err := connect(proc)
	if err != nil {
		return err
	}
	defer c.close()
	return c.apply(ctx, proc, file, how)
}

func (c *connection) apply(ctx context.Context, proc settings.Process, file string, how Applying) error {
	// Thousands of topics take minutes, so what is bounded is the time in which nothing
	// is heard of them.
	ctx, heard := whileHeard(ctx, commandTimeout)
	defer heard.stop()
	applier := apply.Applier{
		Out: proc.Out, Terminal: proc.Color, Embedded: proc.Config.Embedded(), Kafka: c.opts, Keys: proc.Config.Keys(), Clear: how.ClearSecrets, By: how.By,
		Await: func(ctx context.Context) (bool, error) {
			err := c.await(ctx)
			return c.topics.Embedded(), err
		},
		Permit: proc.Config.Stages.Permit(receivers(&proc.Config)...),
		Ensure: func(ctx context.Context, exports map[string]schemas.Export, progress func(done, total int), topics ...string) error {
			defer heard.again()
			return c.topics.For(exports).EnsureInSteps(ctx, func(done, total int) {
				heard.again()
				progress(done, total)
			}, apply.Topics(proc.Config.Stages, topics...)...)
		},
	}
	return heard.explain(ctx, applier.Apply(ctx, file, how.DryRun))
}
