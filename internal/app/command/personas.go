package command

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/personas/ask"
)

func personasCommand() Command {
	return Command{
		Name:    "personas",
		Summary: "who is in which audience and why, and what an edit would change",
		Help: "A KEY is the id of an audience or a computed trait. All but resync only read, and answer\n" +
			"while no personas runs as well, as of when it ran last.",
		Below: []Command{
			{
				Name: "list", Args: "[--json]",
				Help:  "Shows each audience and computed trait: its version, how many users it has, how many\nof them entered and left in the last day, and how far the stage is with it.",
				Flags: listPersonas, Role: ask.Role(),
			},
			{
				Name: "show", Args: "[--json] [--version N] KEY", Operands: true,
				Help:  "Shows one definition, its versions, and how far the stage is with it in each partition.\nWith --version it prints that version alone, as a workspace file has it: put it there, and\napply the file, to go back to it.",
				Flags: showPersona,
			},
			{
				Name: "diff", Args: "[--json] KEY [V1 [V2]]", Operands: true,
				Help:  "Shows what differs between two versions of a definition: V1 and V2, or V1 and the one in\nforce, or the last two. The last twenty are kept.",
				Flags: diffPersonas,
			},
			{
				Name: "members", Args: "[--json] [--after USER] [--limit N] KEY", Operands: true,
				Help:  "Shows the members of an audience by their ids, and since when each is one.",
				Flags: showMembers,
			},
			{
				Name: "profile", Args: "[--json] USER", Operands: true,
				Help:  "Shows what is known of a user: the traits that definitions look at, audiences, computed\ntraits, the sources that have seen the user, and the ids that were merged.",
				Flags: showProfile,
			},
			{
				Name: "explain", Args: "[--json] [--not] KEY USER", Operands: true,
				Help:  "Shows why a user is in an audience or not, or how a computed trait comes about: each\nnode with its value, what is expected of it, when it flips by itself, and the messageIds\nof the calls that count. --not shows what keeps the user out, and by how much.",
				Flags: explainPersona,
			},
			{
				Name: "history", Args: "[--json] [--since T] KEY|USER", Operands: true,
				Help:  "Shows every change that was told of a definition or of a user, and why, as far as\nraw-events goes back. T is a duration back (24h), a time (2026-11-21T08:30:00Z) or a date.",
				Flags: showHistory,
			},
			{
				Name: "growth", Args: "[--json] [--since T] KEY", Operands: true,
				Help:  "Shows how an audience grew, by what was told of it: who entered and left in each step,\nand its size at the end of the step. A step is an hour, from two days on a quarter of a day,\nand from eight days on a day. It goes back as far as raw-events.",
				Flags: showGrowth,
			},
			{
				Name: "preview", Args: "[--json] [--key KEY] -f FILE",
				Help:  "Shows what a workspace file would change, without applying it: how many users each\naudience and computed trait that differs has before and after, who would enter and\nleave, a sample with reasons, and the offsets as of which that is so. What is new is\ncomputed from raw-events.",
				Flags: previewPersonas,
			},
			{
				Name: "check", Args: "[--json]",
				Help:  "Computes every user again from raw-events and compares what follows with what was told.\nIt changes nothing. The exit code is 1 when there is a difference.",
				Flags: checkPersonas,
			},
			{
				Name: "resync", Args: "--destination D [--rate N] [--dry-run] [--json] KEY", Operands: true,
				Help:  "Has a destination told once more of each present member of an audience, or of each value\nof a computed trait: one that is new, or that has lost its data. No other is told. The\nstage does it, so it goes on if this command is killed; Ctrl-C cancels it. In both cases\nthe same command goes on where it is, and nobody is told twice.",
				Flags: resyncPersonas, Role: ask.ResyncRole(),
			},
		},
	}
}

// answer is what a command below personas prints.
type answer struct {
	asJSON *bool
	name   string
}

func answering(set *flag.FlagSet, help string) answer {
	return answer{set.Bool("json", false, help), set.Name()}
}

const (
	jsonObject = "print one JSON object"
	jsonLines  = "print one JSON object per line"
)

// operands checks that there are as many as are expected.
func (a answer) operands(got []string, want ...string) error {
	if len(got) == len(want) {
		return nil
	}
	return fmt.Errorf("%s: found %d arguments, expected %d: see `anabranch %s -h`", a.name, len(got), len(want), a.name)
}

// one prints an object, or has it printed for people.
func one[T any](a answer, out io.Writer, value T, text func(io.Writer, T) error) error {
	if *a.asJSON {
		return terminal.JSON(out, value)
	}
	return text(out, value)
}

// each prints a line for each value, or has them printed for people.
func each[T any](a answer, out io.Writer, values []T, text func(io.Writer, []T) error) error {
	if *a.asJSON {
		return ask.Lines(out, values)
	}
	return text(out, values)
}

func listPersonas(set *flag.FlagSet) Run {
	a := answering(set, "print one JSON array")
	return func(ctx context.Context, program settings.Program, _ []string) error {
		return withPersonas(ctx, program, func(log *ask.Log) error {
			all, err := ask.List(ctx, log)
			if err != nil {
				return err
			}
			return one(a, program.Out, all, ask.PrintList)
		})
	}
}

func showPersona(set *flag.FlagSet) Run {
	a := answering(set, jsonObject)
	version := set.Int("version", 0, "print this version alone, as an entry of a workspace file")
	return func(ctx context.Context, program settings.Program, args []string) error {
		if err := a.operands(args, "KEY"); err != nil {
			return err
		}
		if *version < 0 {
			return fmt.Errorf("%s: --version=%d: expected 1 or more", a.name, *version)
		}
		return withPersonas(ctx, program, func(log *ask.Log) error {
			if *version > 0 {
				v, err := ask.VersionOf(&log.Workspace, args[0], *version)
				if err != nil {
					return err
				}
				return one(a, program.Out, v, ask.PrintVersion)
			}
			d, err := ask.Show(ctx, log, args[0])
			if err != nil {
				return err
			}
			return one(a, program.Out, d, ask.PrintDetails)
		})
	}
}

func diffPersonas(set *flag.FlagSet) Run {
	a := answering(set, jsonObject)
	return func(ctx context.Context, program settings.Program, args []string) error {
		if len(args) < 1 || len(args) > 3 {
			return a.operands(args, "KEY", "V1", "V2")
		}
		of := []int{-1, 0} // the last two
		for i, text := range args[1:] {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				return fmt.Errorf("%s: version %q: expected a number from 1 on", a.name, text)
			}
			of[i] = n
		}
		return withPersonas(ctx, program, func(log *ask.Log) error {
			e, err := ask.Compare(&log.Workspace, args[0], of[0], of[1])
			if err != nil {
				return err
			}
			return one(a, program.Out, e, ask.PrintEdit)
		})
	}
}

func showMembers(set *flag.FlagSet) Run {
	a := answering(set, jsonLines)
	var page ask.Page
	set.StringVar(&page.After, "after", "", "only those whose ids come behind this one")
	set.IntVar(&page.Limit, "limit", 0, "show so many at most; 0 shows all")
	return func(ctx context.Context, program settings.Program, args []string) error {
		if err := a.operands(args, "KEY"); err != nil {
			return err
		}
		if page.Limit < 0 {
			return fmt.Errorf("%s: --limit=%d: expected 0 or more", a.name, page.Limit)
		}
		return withPersonas(ctx, program, func(log *ask.Log) error {
			members, more, err := ask.Members(ctx, log, args[0], page)
			if err != nil {
				return err
			}
			if err = each(a, program.Out, members, ask.PrintMembers); err != nil || !more {
				return err
			}
			_, err = fmt.Fprintf(program.Err, "there are more: go on with --after %s\n", terminal.Safe(members[len(members)-1].UserID))
			return err
		})
	}
}

func showProfile(set *flag.FlagSet) Run {
	a := answering(set, jsonObject)
	return func(ctx context.Context, program settings.Program, args []string) error {
		if err := a.operands(args, "USER"); err != nil {
			return err
		}
		return withPersonas(ctx, program, func(log *ask.Log) error {
			p, err := ask.Look(ctx, log, args[0])
			if err != nil {
				return err
			}
			return one(a, program.Out, p, ask.PrintProfile)
		})
	}
}

func explainPersona(set *flag.FlagSet) Run {
	a := answering(set, jsonObject)
	failing := set.Bool("not", false, "show only what keeps the user out")
	return func(ctx context.Context, program settings.Program, args []string) error {
		if err := a.operands(args, "KEY", "USER"); err != nil {
			return err
		}
		return withPersonas(ctx, program, func(log *ask.Log) error {
			e, err := ask.Explain(ctx, log, args[0], args[1], *failing)
			if err != nil {
				return err
			}
			return one(a, program.Out, e, ask.PrintExplanation)
		})
	}
}

func showHistory(set *flag.FlagSet) Run {
	a := answering(set, jsonLines)
	var since time.Time
	set.Func("since", "only what was told since: 24h, 2026-11-21T08:30:00Z or 2026-11-21", func(text string) (err error) {
		since, err = deadletters.ParseTime(text, time.Now())
		return err
	})
	return func(ctx context.Context, program settings.Program, args []string) error {
		if err := a.operands(args, "KEY|USER"); err != nil {
			return err
		}
		return withPersonas(ctx, program, func(log *ask.Log) error {
			all, _, err := ask.History(ctx, log, args[0], ask.Span{Since: since})
			if err != nil {
				return err
			}
			return each(a, program.Out, all, ask.PrintHistory)
		})
	}
}

func previewPersonas(set *flag.FlagSet) Run {
	a := answering(set, jsonObject)
	file := set.String("f", "", "the workspace file")
	key := set.String("key", "", "only this audience or computed trait, also where it does not differ")
	return func(ctx context.Context, program settings.Program, _ []string) error {
		if *file == "" {
			return fmt.Errorf("%s: expected -f FILE, a workspace file", a.name)
		}
		next, err := wsfile.Load(*file, wsfile.SystemLookup())
		if err != nil {
			return err
		}
		return withPersonas(ctx, program, func(log *ask.Log) error {
			p, err := ask.Changes(ctx, log, ask.Of(next), *key)
			if err != nil {
				return err
			}
			return one(a, program.Out, p, ask.PrintPreview)
		})
	}
}

func checkPersonas(set *flag.FlagSet) Run {
	a := answering(set, jsonObject)
	return func(ctx context.Context, program settings.Program, _ []string) error {
		return withPersonas(ctx, program, func(log *ask.Log) error {
			v, err := ask.Check(ctx, log)
			if err != nil {
				return err
			}
			if err := one(a, program.Out, v, ask.PrintVerdict); err != nil {
				return err
			}
			if v.Differences > 0 {
				return fmt.Errorf("%s: %d differences", a.name, v.Differences)
			}
			return nil
		})
	}
}

func resyncPersonas(set *flag.FlagSet) Run {
	a := answering(set, jsonObject)
	var r ask.Resyncing
	set.StringVar(&r.Destination, "destination", "", "the id of the destination")
	set.IntVar(&r.Rate, "rate", 100, fmt.Sprintf("users per second, 1 to %d, of all partitions together", ask.MaxRate))
	set.BoolVar(&r.DryRun, "dry-run", false, "show how many users there are and how long it takes, and tell nobody")
	return func(ctx context.Context, program settings.Program, args []string) error {
		if err := a.operands(args, "KEY"); err != nil {
			return err
		}
		if r.Destination == "" {
			return fmt.Errorf("%s: expected --destination D, the id of one", a.name)
		}
		if r.Rate < 1 || r.Rate > ask.MaxRate {
			return fmt.Errorf("%s: --rate=%d: expected 1 to %d", a.name, r.Rate, ask.MaxRate)
		}
		r.Key = args[0]
		return withPersonas(ctx, program, func(log *ask.Log) error {
			p := progressOn(program, resyncProgress)
			begun := time.Now()
			done, err := ask.Resync(ctx, log, r, func(so *ask.Resynced) {
				p.Show(time.Now(), func() string { return so.Progress(time.Since(begun)) })
			})
			p.Clear()
			if err != nil {
				if done != nil {
					err = fmt.Errorf("%w (%s)", err, done)
				}
				return err
			}
			return one(a, program.Out, done, func(out io.Writer, done *ask.Resynced) error {
				return ask.PrintResync(out, done, r)
			})
		})
	}
}

// resyncProgress is between lines where each of them stays.
const resyncProgress = 5 * time.Second

// withPersonas connects to the brokers, and gives up when none answers in time; to read a
// long topic may take longer, and says how far it is.
func withPersonas(ctx context.Context, program settings.Program, do func(*ask.Log) error) error {
	return withDeadLetters(ctx, program, func(log *deadletters.Log, _ *regulation.Keys) error {
		state, err := inTime(ctx, func(ctx context.Context) (wstopic.State, error) { return wstopic.Read(ctx, log.Kafka) })
		if err != nil {
			return err
		}
		p := progressOn(program, 0)
		err = do(&ask.Log{Kafka: log.Kafka, Topics: log.Topics, Workspace: ask.Of(state.Snapshot), Progress: reading(p, "")})
		p.Clear()
		return err
	})
}
