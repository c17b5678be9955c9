package command

import (
	"context"
	"flag"
	"fmt"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/apply"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
)

func appliedCommand() Command {
	return Command{
		Name:    "applied",
		Summary: "who applied which changes of the workspace, and since when each thing is in force",
		Help:    "These commands read the topic workspace alone. They show no values, and so no secrets.",
		Below: []Command{
			{
				Name: "history", Args: "[--json] [--last N]",
				Help: "Shows the last applications of a workspace that changed something: when each was, by whom,\n" +
					"and what it changed, as a plan prints it. The last 50 are kept.",
				Flags: appliedHistory,
			},
			{
				Name: "list", Args: "[--json]",
				Help: "Shows each source, destination, audience and computed trait that is in force, when it was\n" +
					"last changed, and by whom where its application is still known.",
				Flags: listApplied,
			},
		},
	}
}

func appliedHistory(set *flag.FlagSet) Run {
	a := answering(set, jsonLines)
	last := set.Int("last", 0, "show so many at most; 0 shows all")
	return func(ctx context.Context, program settings.Program, _ []string) error {
		if *last < 0 {
			return fmt.Errorf("%s: --last=%d: expected 0 or more", a.name, *last)
		}
		return withWorkspace(ctx, program, func(state *wstopic.State) error {
			all := state.History()
			if *last > 0 {
				all = all[:min(*last, len(all))]
			}
			return each(a, program.Out, all, apply.PrintHistory)
		})
	}
}

func listApplied(set *flag.FlagSet) Run {
	a := answering(set, jsonLines)
	return func(ctx context.Context, program settings.Program, _ []string) error {
		return withWorkspace(ctx, program, func(state *wstopic.State) error {
			return each(a, program.Out, state.Holdings(), apply.PrintHoldings)
		})
	}
}

// withWorkspace reads what the topic of the workspace says.
func withWorkspace(ctx context.Context, program settings.Program, do func(*wstopic.State) error) error {
	return beside(ctx, program, func(_ settings.Process, c *connection) error {
		state, err := inTime(ctx, func(ctx context.Context) (wstopic.State, error) { return wstopic.Read(ctx, c.opts) })
		if err != nil {
			return err
		}
		return do(&state)
	})
}
