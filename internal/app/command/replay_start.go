package command

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/router"
	"github.com/anabranch/anabranch/router/replay"
	"github.com/anabranch/anabranch/schemas"
)

func planReplay(set *flag.FlagSet) Run {
	q := replayRequest(set)
	asJSON := set.Bool("json", false, jsonObject)
	return func(ctx context.Context, program settings.Program, _ []string) error {
		return withReplayTerms(ctx, program, func(t replayTerms) error {
			run, err := t.operator.Prepare(ctx, *q, t.workspace, time.Now())
			if err != nil {
				return err
			}
			f, err := t.operator.Plan(ctx, run, t.workspace, new(router.Judge), t.suppressed)
			if err != nil {
				return err
			}
			keepPlan(ctx, program, t.operator, f)
			if *asJSON {
				return terminal.JSON(program.Out, f)
			}
			return f.Print(program.Out)
		})
	}
}

// keepPlan keeps a plan that has something to send. What it says holds as well where nobody
// may write it down.
func keepPlan(ctx context.Context, program settings.Program, o *replay.Operator, f *replay.Forecast) {
	if f.Total() == 0 {
		return
	}
	if err := o.Keep(ctx, f, time.Now()); err != nil {
		_, _ = fmt.Fprintf(program.Err, "the plan is not kept, so `anabranch replay start` has to be given its flags: %v\n", err)
	}
}

func startReplay(set *flag.FlagSet) Run {
	q := replayRequest(set)
	asJSON := set.Bool("json", false, jsonObject)
	wait := set.Bool("wait", false, "wait for the end, and show how far it is")
	return func(ctx context.Context, program settings.Program, operands []string) error {
		plan, err := planID(set, operands)
		if err != nil {
			return err
		}
		return withReplayTerms(ctx, program, func(t replayTerms) error {
			run, err := t.run(ctx, set, q, plan)
			if err != nil {
				return err
			}
			if why := idle(run); why != "" {
				return program.Print("nothing to send: " + why + "\n")
			}
			if err := t.operator.Write(ctx, run); err != nil {
				return err
			}
			if err := mentionOthers(ctx, program, t.operator, run); err != nil {
				return err
			}
			if *wait {
				if _, err := fmt.Fprintln(program.Err, run.ID); err != nil {
					return err
				}
				return waitForReplay(ctx, program, t.operator, run.ID, *asJSON)
			}
			if *asJSON {
				return terminal.JSON(program.Out, replay.StatusOf(&replay.Entry{Run: *run}))
			}
			return program.Print(run.ID + "\n")
		})
	}
}

// planID is the id of a plan among the operands; empty: there is none, and flags say what is
// meant.
func planID(set *flag.FlagSet, operands []string) (string, error) {
	if len(operands) == 0 {
		return "", nil
	}
	var others []string
	set.Visit(func(f *flag.Flag) {
		if !slices.Contains([]string{"rate", "wait", "json"}, f.Name) {
			others = append(others, "--"+f.Name)
		}
	})
	if len(others) > 0 {
		return "", fmt.Errorf("%s: %s beside the plan %s, which says what is sent: expected only --rate, --wait and --json", set.Name(), strings.Join(others, ", "), operands[0])
	}
	if len(operands) != 1 || !schemas.ValidID(operands[0]) {
		return "", fmt.Errorf("%s: found %q, expected the id of a plan: `anabranch replay plan` prints it", set.Name(), operands)
	}
	return operands[0], nil
}

// run is the run that a plan was made for, at the rate of the flags where they have one, or
// without a plan the one that the flags come to.
func (t *replayTerms) run(ctx context.Context, set *flag.FlagSet, q *replay.Request, plan string) (*replay.Run, error) {
	if plan == "" {
		return t.operator.Prepare(ctx, *q, t.workspace, time.Now())
	}
	p, err := t.operator.Planned(ctx, plan, t.workspace, time.Now())
	if err != nil {
		return nil, err
	}
	set.Visit(func(f *flag.Flag) {
		if f.Name == "rate" {
			p.Rate = q.Rate
		}
	})
	return &p.Run, nil
}

// idle says why a run has nothing to do.
func idle(run *replay.Run) string {
	switch {
	case run.Events() > 0 && len(run.Destinations) > 0:
		return ""
	case run.Events() > 0:
		return "no enabled destination is connected"
	case run.Archive != nil:
		return "the archive has no objects of that time that are a minute old"
	}
	return "no events were received in that time"
}

// mentionOthers says which replays are not over that send to the same destinations: each of
// them sends what it has to.
func mentionOthers(ctx context.Context, program settings.Program, o *replay.Operator, run *replay.Run) error {
	book, err := o.Load(ctx)
	if err != nil {
		return err
	}
	for _, e := range book.All() {
		same := slices.ContainsFunc(e.Run.Destinations, func(id string) bool { return slices.Contains(run.Destinations, id) })
		if e.Run.ID != run.ID && same && !e.Over() {
			_, _ = fmt.Fprintf(program.Err, "replay %s is %s and sends to the same destinations: each sends what it has to\n", e.Run.ID, e.State())
		}
	}
	return nil
}
