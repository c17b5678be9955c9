package command

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os/user"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/schemas"
)

func destinationsCommand() Command {
	return Command{
		Name:    "destinations",
		Summary: "pausing and resuming deliveries",
		Help: "A pause is kept beside the workspace and not in its file: applying a file, or restarting a\n" +
			"process, does not end it. `anabranch status` shows what is paused.",
		Below: []Command{
			{
				Name: "pause", Args: "[--by NAME] [--json] ID", Operands: true,
				Help: "Has every sink send nothing to a destination until it is resumed: neither new events, nor\n" +
					"retries, nor what a replay has sent. Attempts in flight end. Events wait on the brokers for as\n" +
					"long as their topic keeps them, and the retry window does not pass.",
				Flags: pauseDestination, Role: wstopic.PauseRole(),
			},
			{
				Name: "resume", Args: "[--json] ID", Operands: true,
				Help:  "Has sinks deliver what waits for a destination.",
				Flags: resumeDestination,
			},
		},
	}
}

// pausedDestination is what pausing and resuming print as JSON.
type pausedDestination struct {
	ID     string     `json:"id"`
	Paused bool       `json:"paused"`
	By     string     `json:"by"`    // empty: not known
	Since  *time.Time `json:"since"` // null: it was not paused
}

func pauseDestination(set *flag.FlagSet) Run {
	by := set.String("by", "", "who pauses it, for those who see it; the user of this machine if left out")
	asJSON := set.Bool("json", false, jsonObject)
	return func(ctx context.Context, program settings.Program, operands []string) error {
		return withDestination(ctx, program, set, operands, func(p *wstopic.Publisher, id string) error {
			inForce, err := inTime(ctx, func(ctx context.Context) (workspace.Pause, error) {
				return p.Pause(ctx, id, cmp.Or(*by, userName()), time.Now())
			})
			switch {
			case err != nil:
				return err
			case *asJSON:
				return terminal.JSON(program.Out, pausedDestination{id, true, inForce.By, &inForce.Since})
			}
			return program.Print(fmt.Sprintf("destination %s is paused %s: `anabranch destinations resume %s` has it delivered to\n", id, inForce, id))
		})
	}
}

func resumeDestination(set *flag.FlagSet) Run {
	asJSON := set.Bool("json", false, jsonObject)
	return func(ctx context.Context, program settings.Program, operands []string) error {
		return withDestination(ctx, program, set, operands, func(p *wstopic.Publisher, id string) error {
			var ended workspace.Pause
			was, err := inTime(ctx, func(ctx context.Context) (was bool, err error) {
				ended, was, err = p.Resume(ctx, id)
				return was, err
			})
			switch {
			case err != nil:
				return err
			case *asJSON && was:
				return terminal.JSON(program.Out, pausedDestination{id, false, ended.By, &ended.Since})
			case *asJSON:
				return terminal.JSON(program.Out, pausedDestination{ID: id})
			case !was:
				return program.Print("destination " + id + " was not paused\n")
			}
			return program.Print(fmt.Sprintf("destination %s is delivered to again; it was paused %s\n", id, ended))
		})
	}
}

// userName is who is logged in on this machine; empty: not known.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// withDestination hands over what publishes to the brokers, and the id among the operands.
func withDestination(ctx context.Context, program settings.Program, set *flag.FlagSet, operands []string, do func(*wstopic.Publisher, string) error) error {
	if len(operands) != 1 || !schemas.ValidID(operands[0]) {
		return fmt.Errorf("%s: found %q, expected the id of a destination", set.Name(), operands)
	}
	return beside(ctx, program, func(_ settings.Process, c *connection) error {
		return do(&wstopic.Publisher{Kafka: c.opts, Ensure: func(ctx context.Context, _ map[string]schemas.Export, topics ...string) error {
			return c.topics.Ensure(ctx, topics...)
		}}, operands[0])
	})
}
