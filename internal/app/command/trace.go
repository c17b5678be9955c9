package command

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/messagetrace"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/personas/ask"
)

func traceCommand(stages pipeline.Stages) Command {
	return Command{
		Name: "trace", Args: "[--json] [--user U] [--since T] ID|--last N", Operands: true,
		Summary: "what became of a call, from ingest to each attempt",
		Help: "Shows what became of the calls with a messageId: how each came, what was decided for each\n" +
			"destination and why, each attempt, what waits until when, and dead letters. The search\n" +
			"begins with the newest; with the user (the userId, else the anonymousId) it takes a\n" +
			"moment, without it may take minutes. With --last N, and no ID, it lists the newest events\n" +
			"of a destination, of a reason, or of a user. T is a duration back (24h), a time\n" +
			"(2026-11-21T08:30:00Z) or a date. The exit code is 1 where there is no such call.",
		Role:  messagetrace.Role(),
		Flags: func(set *flag.FlagSet) Run { return traceFlags(set, stages) },
	}
}

// usualTrace is how far back is searched.
const usualTrace = 24 * time.Hour

func traceFlags(set *flag.FlagSet, stages pipeline.Stages) Run {
	a := answering(set, "print one JSON object, with --last one per line")
	now := time.Now()
	q := messagetrace.Query{Since: now.Add(-usualTrace).UTC().Truncate(time.Millisecond), Until: now.Add(time.Minute)}
	var of messagetrace.Selection
	at := func(name, usage string, to *time.Time) {
		set.Func(name, usage, func(text string) (err error) {
			*to, err = deadletters.ParseTime(text, now)
			return err
		})
	}
	set.StringVar(&q.User, "user", "", "the userId of the call, else its anonymousId")
	at("since", "only calls taken since: 24h (the default), 2026-11-21T08:30:00Z or 2026-11-21", &q.Since)
	at("until", "only calls taken before", &q.Until)
	set.IntVar(&of.Last, "last", 0, fmt.Sprintf("list so many of the newest events instead, 1 to %d", messagetrace.MostLast))
	set.StringVar(&of.Destination, "destination", "", "with --last: only those of this destination")
	set.StringVar((*string)(&of.Reason), "reason", "", "with --last: only those that failed for this reason")
	return func(ctx context.Context, program settings.Program, args []string) error {
		of.User, of.Since = q.User, q.Since
		if err := checkTrace(a.name, args, &of); err != nil {
			return err
		}
		return withTrace(ctx, program, stages, func(log *messagetrace.Log) error {
			if of.Last > 0 {
				events, err := messagetrace.Last(ctx, log, of)
				if err != nil {
					return err
				}
				if *a.asJSON {
					return ask.Lines(program.Out, events)
				}
				return messagetrace.PrintEvents(program.Out, events)
			}
			q.MessageID = args[0]
			return traceOne(ctx, program, a, log, q)
		})
	}
}

// checkTrace reports what does not go together.
func checkTrace(name string, args []string, of *messagetrace.Selection) error {
	switch {
	case of.Last == 0 && (of.Destination != "" || of.Reason != ""):
		return fmt.Errorf("%s: --destination and --reason go with --last N", name)
	case of.Last == 0 && len(args) != 1:
		return fmt.Errorf("%s: found %d arguments, expected a messageId, or --last N: see `anabranch %s -h`", name, len(args), name)
	case of.Last < 0 || of.Last > messagetrace.MostLast:
		return fmt.Errorf("%s: --last=%d: expected 1 to %d", name, of.Last, messagetrace.MostLast)
	case of.Last > 0 && len(args) > 0:
		return fmt.Errorf("%s: expected either a messageId or --last, found both", name)
	case of.Last > 0 && (of.User != "") == (of.Destination != "" || of.Reason != ""):
		return fmt.Errorf("%s: --last: expected --destination, --reason or both, or --user", name)
	}
	selected := deadletters.Selection{Destination: of.Destination, Reason: of.Reason}
	if err := selected.Validate(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func traceOne(ctx context.Context, program settings.Program, a answer, log *messagetrace.Log, q messagetrace.Query) error {
	trace, err := messagetrace.Find(ctx, log, q)
	if err != nil {
		return err
	}
	if err = one(a, program.Out, trace, messagetrace.Print); err != nil || len(trace.Calls) > 0 {
		return err
	}
	return fmt.Errorf("%s: there is no call %s: searched %s", a.name, terminal.Safe(q.MessageID), trace.Searched.Text())
}

// withTrace connects to the brokers, and reads what a trace needs of the workspace.
func withTrace(ctx context.Context, program settings.Program, stages pipeline.Stages, do func(*messagetrace.Log) error) error {
	return withDeadLetters(ctx, program, func(brokers *deadletters.Log, keys *regulation.Keys) error {
		users := regulation.NewRegister(keys, nil)
		state, err := inTime(ctx, func(ctx context.Context) (wstopic.State, error) {
			return wstopic.ReadWith(ctx, brokers.Kafka, users.Former())
		})
		if err != nil {
			return err
		}
		p := progressOn(program, 0)
		way := stages.Way()
		log := &messagetrace.Log{
			Topics: brokers.Topics, Workspace: state.Snapshot, Router: way.Router, Sink: way.Sink, Archive: way.Archive, Finished: way.Finished,
			Users: func(ctx context.Context) (*regulation.Register, error) {
				return users, wstopic.ReadRegulations(ctx, brokers.Kafka, users)
			},
			Progress: back(p),
		}
		err = do(log)
		p.Clear()
		return err
	})
}

// back shows how far back is searched.
func back(p *terminal.Progress) func(time.Time, int64) {
	return func(to time.Time, records int64) {
		p.Show(time.Now(), func() string {
			return fmt.Sprintf("searching back to %s, %s records so far", terminal.Moment(to), terminal.Count(records))
		})
	}
}
