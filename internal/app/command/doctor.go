package command

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/doctor"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/router"
	"github.com/anabranch/anabranch/schemas"
	webhooksink "github.com/anabranch/anabranch/webhook-sink"
)

// doctorTimeout is above what an examination takes when everything hangs that may.
const doctorTimeout = 20 * time.Second

func doctorCommand(ctx context.Context, args []string, streams settings.Streams) error {
	flags := flag.NewFlagSet("doctor", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print one JSON object")
	roles := stageNames()
	// Who only looks needs the permissions of status.
	choices := append(stageNames(), "status")
	flags.Func("stage", "whose permissions are looked at: "+strings.Join(choices, ", ")+" (default all stages)", func(name string) error {
		if !slices.Contains(choices, name) {
			return fmt.Errorf("expected one of %s", strings.Join(choices, ", "))
		}
		roles = []string{name}
		return nil
	})
	if err := parseFlags(flags, args, streams); err != nil {
		return err
	}
	proc, err := settings.Open(streams)
	if err != nil {
		return err
	}
	found, err := examine(ctx, proc, roles)
	if err != nil {
		return err
	}
	show := doctor.Table
	if *asJSON {
		show = doctor.JSON
	}
	if err := show(streams.Out, found); err != nil {
		return err
	}
	if found.Problems > 0 {
		return errors.New("doctor: found " + found.String())
	}
	return nil
}

// stageNames are those of stages, which are roles too.
func stageNames() []string { return []string{"ingest", "router", "webhook-sink"} }

func examine(ctx context.Context, proc settings.Process, roles []string) (*doctor.Diagnosis, error) {
	c, err := connect(proc)
	if err != nil {
		return nil, err
	}
	defer c.close()
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	cfg := &proc.Config
	set := doctor.Settings{
		Kafka: c.opts, Topics: c.topics, Brokers: cfg.Brokers().Brokers, Variable: "KAFKA_BROKERS",
		Stages: []doctor.Stage{{Name: "router", Group: router.Group, Copy: router.Bookmark}, {Name: "webhook-sink", Group: webhooksink.Group}},
		Roles:  roles, Retries: retryTopics(cfg.Sink.RetryDelays),
		Workspace: func(ctx context.Context) (*workspace.Snapshot, bool, error) {
			state, readErr := wstopic.Read(ctx, c.opts)
			return state.Snapshot, state.Applied, readErr
		},
		Permit:      cfg.Sink.Permit(receivers(cfg)...),
		Unknown:     settings.Unknown(proc.Environment),
		Connections: cfg.Ingest.MaxConnections, Attempts: cfg.Sink.MaxInFlightTotal,
	}
	if cfg.Embedded() {
		set.Variable = "BROKER_ADDR (`anabranch run` has the broker), or set KAFKA_BROKERS"
		set.Data, set.DataBytes = cfg.DataDir, logBytes(cfg)
	}
	return doctor.Examine(ctx, set), nil
}

func retryTopics(delays []time.Duration) []string {
	topics := make([]string, len(delays))
	for i, delay := range delays {
		topics[i] = schemas.RetryTopic(delay)
	}
	return topics
}

// logBytes is about how large the embedded broker's log gets while receivers take
// what they are sent.
func logBytes(cfg *settings.Config) int64 {
	const (
		usual = 128 << 20 // of raw-events, per partition
		rest  = 1 << 30   // deliver.* and webhook-retry.* of a day, as a rule
	)
	return int64(cfg.Topics.Partitions)*int64(cmp.Or(cfg.Topics.RawBytes, usual)) + rest
}

// receivers is the built-in receiver of `anabranch run`, to which its sink may
// deliver.
func receivers(cfg *settings.Config) []netip.AddrPort {
	addr, err := netip.ParseAddrPort(cfg.ReceiverAddr)
	if err != nil || !cfg.Embedded() || cfg.WorkspaceFile != "" {
		return nil
	}
	return []netip.AddrPort{addr}
}
