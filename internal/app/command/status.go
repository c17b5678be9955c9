package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/router"
	webhooksink "github.com/anabranch/anabranch/webhook-sink"
)

const (
	usualSince = 24 * time.Hour
	maxSince   = 30 * 24 * time.Hour // dead letters are kept no longer
)

func statusCommand(ctx context.Context, args []string, streams settings.Streams) error {
	flags := flag.NewFlagSet("status", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print one JSON object")
	since := flags.Duration("since", usualSince, "how far back dead letters are counted, at most 720h")
	if err := parseFlags(flags, args, streams); err != nil {
		return err
	}
	if *since <= 0 || *since > maxSince {
		return fmt.Errorf("status: --since=%s: expected a duration of at most 720h", *since)
	}
	proc, err := settings.Open(streams)
	if err != nil {
		return err
	}
	report, err := inTime(ctx, func(ctx context.Context) (*status.Report, error) { return gatherStatus(ctx, proc, *since) })
	if err != nil {
		return err
	}
	if *asJSON {
		return status.JSON(streams.Out, report)
	}
	return status.Table(streams.Out, report)
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
	report, err := status.Gather(ctx, status.Settings{
		Kafka: c.opts, Topics: c.topics, Brokers: proc.Config.Brokers().Brokers, Workspace: state.Snapshot,
		Router: router.Group, Sink: webhooksink.Group, Finished: webhooksink.Finished, Busy: webhooksink.BusyKeys,
		DeadSince: since, Window: proc.Config.Sink.RetryWindow,
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("status: brokers answer, but too slowly for %s: `anabranch doctor` looks at them one by one: %w", commandTimeout, err)
	}
	return report, err
}
