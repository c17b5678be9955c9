package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/personas/ask"
	"github.com/anabranch/anabranch/router/replay"
	"github.com/anabranch/anabranch/schemas"
)

const replayChoice = "[--from T] [--to T] [--source S] [--destination D]\n[--type TYPE] [--event NAME] [--user U] [--only missing]\n[--from-archive D] [--rate N] [--json]"

func replayCommand() Command {
	return Command{
		Name:    "replay",
		Summary: "past events, sent once more through today's connections",
		Help: "Events of raw-events are sent once more, to the destinations that are connected today and as\n" +
			"each call's integrations map says. They wait behind live events. A T is a duration back (24h),\n" +
			"a time (2026-11-21T08:30:00Z) or a date, and means when events were received: --from is the\n" +
			"first moment that counts, --to the first that does not. With --from-archive the events are those\n" +
			"of an archive, which outlives the log. `anabranch replay plan -h` explains the flags.",
		Below: []Command{
			{
				Name: "plan", Args: replayChoice,
				Help: "Reads the events and says what a replay would do: how many go where, what is left out and\n" +
					"why, how long it takes, and the difference to what was sent then. It sends nothing. The plan\n" +
					"is kept for a day, and `anabranch replay start` takes its id.",
				Flags: planReplay, Role: replay.PlanRole(),
			},
			{
				Name: "start", Args: replayChoice + " [--wait]\n[PLAN]", Operands: true,
				Help: "Starts a replay, prints its id, and leaves the rest to the routers. Whatever ends one of\n" +
					"them, each event is sent once. The exit code is 0 as well when there is nothing to send.\n" +
					"With the id of a plan it sends the events that were planned, once: beside it only --rate,\n" +
					"--wait and --json are taken. It is refused when the plan is older than a day, or when the\n" +
					"log has lost events of it since.",
				Flags: startReplay, Role: replay.Role(),
			},
			{Name: "list", Args: "[--json]", Help: "Shows all replays, the last one first, and how far they are.", Flags: listReplays},
			{Name: "show", Args: "[--json] [--wait] ID", Operands: true, Help: "Shows how far a replay is with each destination, and what it waits for.", Flags: showReplay},
			changing("pause", "Pauses a replay. What was sent by then is delivered.", replay.Paused),
			changing("resume", "Lets a paused replay go on where it stopped.", replay.Running),
			{Name: "rate", Args: "[--json] ID N", Operands: true, Help: "Has a replay send N events a second to each destination from now on.", Flags: rateReplay},
			{Name: "cancel", Args: "[--json] ID", Operands: true, Help: "Ends a replay, and says what it has sent. That is delivered nevertheless.", Flags: cancelReplay},
		},
	}
}

// replayRequest declares the flags that say what is replayed.
func replayRequest(set *flag.FlagSet) *replay.Request {
	q := &replay.Request{Rate: replay.UsualRate}
	now := time.Now()
	moment := func(at *time.Time) func(string) error {
		return func(text string) (err error) {
			*at, err = deadletters.ParseTime(text, now)
			return err
		}
	}
	set.Func("from", "only what was received then or later: 24h, 2026-11-21T08:30:00Z or 2026-11-21", moment(&q.From))
	set.Func("to", "only what was received before", moment(&q.To))
	set.StringVar(&q.Choice.Source, "source", "", "only calls of this source; personas: what was told of audiences and traits, which is left out otherwise")
	set.StringVar(&q.Choice.Destination, "destination", "", "only to this destination")
	set.Func("type", "only calls of this type", func(text string) error {
		q.Choice.Type = schemas.Type(text)
		return nil
	})
	set.StringVar(&q.Choice.Event, "event", "", "only track calls of this event")
	set.StringVar(&q.Choice.User, "user", "", "only calls of the user with this id, or anonymous id")
	set.Func("only", "missing: only what a destination was not sent then, as the journal has it", func(text string) error {
		if text != "missing" {
			return errors.New("expected missing")
		}
		q.Choice.Missing = true
		return nil
	})
	set.StringVar(&q.Archive, "from-archive", "", "the events that this destination of the type archive has stored, instead of those of raw-events")
	set.Func("rate", fmt.Sprintf("events a second to each destination, 1 to %d (default %d)", replay.MaxRate, replay.UsualRate), func(text string) (err error) {
		q.Rate, err = replayRate(text)
		return err
	})
	return q
}

func replayRate(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > replay.MaxRate {
		return 0, fmt.Errorf("%q: expected a whole number of events a second, 1 to %d", text, replay.MaxRate)
	}
	return n, nil
}

// replayTerms are what a replay is planned by.
type replayTerms struct {
	operator   *replay.Operator
	workspace  *workspace.Snapshot
	suppressed func(userID []byte) bool
}

func withReplays(ctx context.Context, program settings.Program, do func(*replay.Operator) error) error {
	return withDeadLetters(ctx, program, func(log *deadletters.Log, _ *regulation.Keys) error {
		return do(&replay.Operator{Kafka: log.Kafka, Topics: log.Topics})
	})
}

// withReplayTerms is withReplays for what goes by the workspace of today.
func withReplayTerms(ctx context.Context, program settings.Program, do func(replayTerms) error) error {
	return beside(ctx, program, func(proc settings.Process, c *connection) error {
		t, err := loader(c.log(), proc.Config.SuppressionKeys())(ctx)
		if err != nil {
			return err
		}
		return do(replayTerms{&replay.Operator{Kafka: c.opts, Topics: c.topics}, proc.Config.Keys().Open(t.Workspace), t.Suppressed})
	})
}

const (
	replayLook     = 500 * time.Millisecond
	replayProgress = time.Minute // between lines where each of them stays
	// cancelPatience is how long a router has to say what was sent.
	cancelPatience = 5 * time.Second
)

// waitForReplay shows how far a replay is until it is over, and then what came of it.
func waitForReplay(ctx context.Context, program settings.Program, o *replay.Operator, id string, asJSON bool) error {
	var last *replay.Entry
	p := progressOn(program, replayProgress)
	err := o.Watch(ctx, id, replayLook, func(e *replay.Entry) bool {
		last = e
		p.Show(time.Now(), func() string { return replay.ProgressLine(e) })
		return false
	})
	p.Leave()
	if err != nil {
		return err
	}
	if last.Sent() == 0 && !asJSON {
		if err := program.Print("there was nothing to send\n"); err != nil {
			return err
		}
	}
	return printReplay(program, last, asJSON)
}

func printReplay(program settings.Program, e *replay.Entry, asJSON bool) error {
	if asJSON {
		return terminal.JSON(program.Out, replay.StatusOf(e))
	}
	return replay.Print(program.Out, e)
}

func listReplays(set *flag.FlagSet) Run {
	asJSON := set.Bool("json", false, "print one JSON object per line")
	return func(ctx context.Context, program settings.Program, _ []string) error {
		return withReplays(ctx, program, func(o *replay.Operator) error {
			book, err := o.Load(ctx)
			if err != nil {
				return err
			}
			if !*asJSON {
				return replay.PrintList(program.Out, book.All())
			}
			var all []replay.Status
			for _, e := range book.All() {
				all = append(all, replay.StatusOf(e))
			}
			return ask.Lines(program.Out, all)
		})
	}
}

// replayID is the id among the operands.
func replayID(set *flag.FlagSet, operands []string, n int, expected string) (string, error) {
	if len(operands) != n || !schemas.ValidID(operands[0]) {
		return "", fmt.Errorf("%s: found %q, expected %s: `anabranch replay list` shows the ids", set.Name(), operands, expected)
	}
	return operands[0], nil
}

func showReplay(set *flag.FlagSet) Run {
	asJSON := set.Bool("json", false, jsonObject)
	wait := set.Bool("wait", false, "wait for the end, and show how far it is")
	return func(ctx context.Context, program settings.Program, operands []string) error {
		id, err := replayID(set, operands, 1, "the id of a replay")
		if err != nil {
			return err
		}
		return withReplays(ctx, program, func(o *replay.Operator) error {
			if *wait {
				return waitForReplay(ctx, program, o, id, *asJSON)
			}
			var last *replay.Entry
			if err := o.Watch(ctx, id, replayLook, func(e *replay.Entry) bool { last = e; return true }); err != nil {
				return err
			}
			return printReplay(program, last, *asJSON)
		})
	}
}

// changing is a command that has something else wanted of a replay.
func changing(name, help string, wish replay.Wish) Command {
	return Command{Name: name, Args: "[--json] ID", Operands: true, Help: help, Flags: func(set *flag.FlagSet) Run {
		asJSON := set.Bool("json", false, jsonObject)
		return func(ctx context.Context, program settings.Program, operands []string) error {
			id, err := replayID(set, operands, 1, "the id of a replay")
			if err != nil {
				return err
			}
			return withReplays(ctx, program, func(o *replay.Operator) error {
				return changeReplay(ctx, program, o, id, *asJSON, func(r *replay.Run) { r.Wish = wish })
			})
		}
	}}
}

// changeReplay changes what is wanted of a replay, and shows how far it is.
func changeReplay(ctx context.Context, program settings.Program, o *replay.Operator, id string, asJSON bool, change func(*replay.Run)) error {
	e, err := o.Change(ctx, id, func(r *replay.Run) error {
		change(r)
		return nil
	})
	if err != nil {
		return err
	}
	now := *e
	change(&now.Run)
	if asJSON {
		return terminal.JSON(program.Out, replay.StatusOf(&now))
	}
	return program.Print(replay.ProgressLine(&now) + "\n")
}

func rateReplay(set *flag.FlagSet) Run {
	asJSON := set.Bool("json", false, jsonObject)
	return func(ctx context.Context, program settings.Program, operands []string) error {
		id, err := replayID(set, operands, 2, "the id of a replay and a rate")
		if err != nil {
			return err
		}
		rate, err := replayRate(operands[1])
		if err != nil {
			return fmt.Errorf("%s: %w", set.Name(), err)
		}
		return withReplays(ctx, program, func(o *replay.Operator) error {
			return changeReplay(ctx, program, o, id, *asJSON, func(r *replay.Run) { r.Rate = rate })
		})
	}
}

func cancelReplay(set *flag.FlagSet) Run {
	asJSON := set.Bool("json", false, jsonObject)
	return func(ctx context.Context, program settings.Program, operands []string) error {
		id, err := replayID(set, operands, 1, "the id of a replay")
		if err != nil {
			return err
		}
		return withReplays(ctx, program, func(o *replay.Operator) error {
			if _, err := o.Change(ctx, id, func(r *replay.Run) error {
				r.Wish = replay.Cancelled
				return nil
			}); err != nil {
				return err
			}
			var last *replay.Entry
			by := time.Now().Add(cancelPatience)
			if err := o.Watch(ctx, id, replayLook, func(e *replay.Entry) bool {
				last = e
				return time.Now().After(by)
			}); err != nil {
				return err
			}
			if !last.Over() {
				_, _ = fmt.Fprintln(program.Err, "no router has answered yet: what was sent is as of when one was last at it")
			}
			return printReplay(program, last, *asJSON)
		})
	}
}
