package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/runs"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
)

const (
	usualSince = 24 * time.Hour
	maxSince   = 30 * 24 * time.Hour // dead letters are kept no longer
)

func statusCommand(stages pipeline.Stages) Command {
	return Command{
		Name: "status", Args: "[--json] [--since T]",
		Summary: "what runs, what waits, what fails, and what to do about it",
		Help:    "Shows what runs, what waits for each destination and since when, what fails, what was\ngiven up, and what to do about it. It only asks the brokers and changes nothing. The\nexit code is 0 whatever is waiting, and 1 when no broker answers within 10s.",
		Role:    status.Role(stages),
		Flags: func(flags *flag.FlagSet) Run {
			asJSON := flags.Bool("json", false, "print one JSON object")
			since := flags.Duration("since", usualSince, "how far back dead letters are counted, at most 720h")
			return func(ctx context.Context, program settings.Program, _ []string) error {
				return showStatus(ctx, program, *since, *asJSON)
			}
		},
	}
}

func showStatus(ctx context.Context, program settings.Program, since time.Duration, asJSON bool) error {
	if since <= 0 || since > maxSince {
		return fmt.Errorf("status: --since=%s: expected a duration of at most 720h", since)
	}
	proc, err := program.OpenBeside()
	if err != nil {
		return err
	}
	report, err := inTime(ctx, func(ctx context.Context) (*status.Report, error) { return gatherStatus(ctx, proc, since) })
	if err != nil {
		return err
	}
	if asJSON {
		return status.JSON(program.Out, report)
	}
	return status.Table(program.Out, report)
}

func gatherStatus(ctx context.Context, proc settings.Process, since time.Duration) (*status.Report, error) {
	c, err := connect(proc)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err = c.await(ctx); err != nil {
		return nil, err
	}
	state, err := wstopic.Read(ctx, c.opts)
	if err != nil {
		return nil, err
	}
	under := runs.Brokers{Kafka: c.opts, Topics: c.topics}
	report, err := status.Gather(ctx, status.Settings{
		Kafka: c.opts, Topics: c.topics, Brokers: c.brokers, Workspace: state.Snapshot,
		Stages: proc.Config.Stages, DeadSince: since,
		Replays: under.Replays, Imports: under.Imports,
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("status: brokers answer, but too slowly for %s: `anabranch doctor` checks them one by one: %w", commandTimeout, err)
	}
	return report, err
}
