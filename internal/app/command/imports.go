package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/anabranch/anabranch/ingest/imports"
	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/router"
	"github.com/anabranch/anabranch/schemas"
)

func importCommand() Command {
	return Command{
		Name:    "import",
		Summary: "files of past calls, and what would become of them",
		Help: "A FILE holds calls as NDJSON, plain or compressed with gzip or zstd, or is a directory of\n" +
			"such files: an archive of Segment, RudderStack or this program. CSV needs a mapping.\n" +
			"`anabranch import start -h` explains the flags.",
		Below: []Command{
			{
				Name: "plan", Args: "FILE|- [--source S] [--format F] [--map FILE] [--json]", Operands: true,
				Help:  "Reads all rows and says what would become of them: how many of each type, from when to\nwhen, which would be refused and why. It writes nothing.",
				Flags: planImport,
			},
			{
				Name: "start", Args: "FILE [--source S] [--format F] [--map FILE] [--rate N]\n[--deliver all|none|D,...] [--again] [--strict] [--json]", Operands: true,
				Help: "Imports all rows as calls of a source, at the times at which they happened. Rows that are\n" +
					"refused go to FILE.rejected.ndjson. An import that was interrupted is simply started again:\n" +
					"each row is imported once. The exit code is 0 when every row is imported or refused.",
				Flags: startImport, Role: imports.Role(),
			},
		},
	}
}

// input declares the flags that say what is imported.
func input(set *flag.FlagSet) *imports.Input {
	in := new(imports.Input)
	set.StringVar(&in.Source, "source", "", "the source whose calls they become; may be left out when there is one")
	set.StringVar(&in.Format, "format", "", "one of "+strings.Join(imports.Formats(), ", ")+"; may be left out, except for rudder")
	set.StringVar(&in.Map, "map", "", "file that says what the columns of CSV become")
	return in
}

// named gives the input its file.
func named(set *flag.FlagSet, in *imports.Input, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s: found %d files, expected one: see `anabranch %s -h`", set.Name(), len(args), set.Name())
	}
	in.Name, in.Stdin = args[0], os.Stdin
	return nil
}

func planImport(set *flag.FlagSet) Run {
	in := input(set)
	asJSON := set.Bool("json", false, jsonObject)
	return func(ctx context.Context, program settings.Program, args []string) error {
		if err := named(set, in, args); err != nil {
			return err
		}
		return withDeadLetters(ctx, program, func(log *deadletters.Log, keys *regulation.Keys) error {
			return imports.Plan(ctx, imports.Planning{Input: *in, Load: loader(log, keys), Out: program.Out, JSON: *asJSON})
		})
	}
}

func startImport(set *flag.FlagSet) Run {
	in := input(set)
	s := imports.Settings{Rate: imports.UsualRate}
	set.Func("rate", fmt.Sprintf("rows a second, 1 to %d (default %d)", imports.MaxRate, imports.UsualRate), func(text string) (err error) {
		if s.Rate, err = strconv.Atoi(text); err != nil || s.Rate < 1 || s.Rate > imports.MaxRate {
			return fmt.Errorf("expected a whole number of rows a second, 1 to %d", imports.MaxRate)
		}
		return nil
	})
	set.StringVar(&s.Deliver, "deliver", "all", "who receives the calls: all, none, or ids separated by commas")
	set.BoolVar(&s.Again, "again", false, "import rows that were imported before")
	set.BoolVar(&s.Strict, "strict", false, "exit with 1 when a row was refused")
	set.BoolVar(&s.JSON, "json", false, jsonObject)
	return func(ctx context.Context, program settings.Program, args []string) error {
		if err := named(set, in, args); err != nil {
			return err
		}
		return beside(ctx, program, func(proc settings.Process, c *connection) error {
			s.Input, s.Kafka, s.Topics, s.Load = *in, c.opts, c.topics, loader(c.log(), proc.Config.SuppressionKeys())
			s.Out, s.Err, s.Terminal = program.Out, program.Err, settings.Terminal(program.Err)
			if proc.Config.Embedded() {
				s.Waiting = func(ctx context.Context) (int64, error) { return unrouted(ctx, c.log()) }
			}
			return imports.Start(ctx, s)
		})
	}
}

func loader(log *deadletters.Log, keys *regulation.Keys) imports.Load {
	return func(ctx context.Context) (imports.Terms, error) {
		state, users, err := inForce(ctx, log.Kafka, keys)
		if err == nil && len(state.Snapshot.Sources()) == 0 {
			err = errors.New("the workspace has no sources: see `anabranch apply -h`")
		}
		if err == nil {
			err = users.Suppressed.Recognised()
		}
		return imports.Terms{Workspace: state.Snapshot, Suppressed: users.Suppressed.Has}, err
	}
}

// unrouted is how many events the router has not finished.
func unrouted(ctx context.Context, log *deadletters.Log) (n int64, err error) {
	lags, err := inTime(ctx, func(ctx context.Context) (map[string]map[int32]groups.Lag, error) {
		return groups.Lags(ctx, log.Topics.Client, router.Group, schemas.TopicRawEvents)
	})
	for _, lag := range lags[schemas.TopicRawEvents] {
		n += lag.Offsets()
	}
	return n, err
}
