package command

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"net/netip"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/doctor"
	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
)

// doctorTimeout is above what an examination takes when everything hangs that may.
const doctorTimeout = 20 * time.Second

func doctorCommand(stages pipeline.Stages) Command {
	return Command{
		Name: "doctor", Args: "[--json] [--stage S]",
		Summary: "what keeps it from working: brokers, permissions, topics, this machine",
		Help:    "Looks for what keeps the pipeline from working: brokers and the addresses they\nadvertise, versions, permissions, topics, groups, clocks, limits of this machine,\nsettings, the workspace. Settings that this shell leaves open are those of the\n`anabranch run` of DATA_DIR. It changes nothing. The exit code is 1 when there is a\nproblem, and 0 when there are only warnings.",
		Flags: func(flags *flag.FlagSet) Run {
			asJSON := flags.Bool("json", false, "print one JSON object")
			roles := stages.Roles()
			// Who only looks needs the permissions of status.
			one := append(stages.Roles(), status.Role(stages))
			choices := strings.Join(append(stages.Names(), "status"), ", ")
			flags.Func("stage", "whose permissions to check: "+choices+" (default all stages)", func(name string) error {
				role, known := acl.Named(one, name)
				if !known {
					return errors.New("expected one of " + choices)
				}
				roles = []acl.Role{role}
				return nil
			})
			return func(ctx context.Context, program settings.Program, _ []string) error {
				return showDiagnosis(ctx, program, roles, *asJSON)
			}
		},
	}
}

func showDiagnosis(ctx context.Context, program settings.Program, roles []acl.Role, asJSON bool) error {
	proc, err := program.OpenBeside()
	if err != nil {
		return err
	}
	found, err := examine(ctx, proc, roles)
	if err != nil {
		return err
	}
	show := doctor.Table
	if asJSON {
		show = doctor.JSON
	}
	if err := show(program.Out, found); err != nil {
		return err
	}
	if found.Problems > 0 {
		return errors.New("doctor: found " + found.String())
	}
	return nil
}

func examine(ctx context.Context, proc settings.Process, roles []acl.Role) (*doctor.Diagnosis, error) {
	c, err := connect(proc)
	if err != nil {
		return nil, err
	}
	defer c.close()
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	cfg := &proc.Config
	set := doctor.Settings{
		Kafka: c.opts, Topics: c.topics, Brokers: c.brokers, Variable: "KAFKA_BROKERS",
		Stages: cfg.Stages, Roles: roles,
		Workspace: func(ctx context.Context) (*workspace.Snapshot, bool, error) {
			state, readErr := wstopic.Read(ctx, c.opts)
			return state.Snapshot, state.Applied, readErr
		},
		Suppressions: func(ctx context.Context) (map[string]int, error) {
			users := regulation.NewRegister(cfg.SuppressionKeys(), nil)
			readErr := wstopic.ReadRegulations(ctx, c.opts, users)
			return users.Suppressed.ByKey(), readErr
		},
		SuppressionKeys: cfg.SuppressionKeys().IDs(),

		Peers:   receivers(cfg),
		Unknown: cfg.Unknown(proc.Environment),
		Differ:  proc.Differ(),
	}
	if cfg.Embedded() {
		set.Variable = "BROKER_ADDR and DATA_DIR (`anabranch run` has the broker), or set KAFKA_BROKERS"
		set.Data, set.DataBytes = cfg.DataDir, logBytes(cfg)
	}
	return doctor.Examine(ctx, set), nil
}

// logBytes is about how large the embedded broker's log gets while receivers take
// what they are sent.
func logBytes(cfg *settings.Config) int64 {
	const (
		usual = 128 << 20 // of raw-events, per partition
		rest  = 1 << 30   // deliver.* and webhook-retry.* of a day, as a rule, and the journal
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
