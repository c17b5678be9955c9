package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/audit"
	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

const (
	usualAudited = time.Hour
	usualSettle  = 10 * time.Second
)

func auditCommand() Command {
	return Command{
		Name: "audit", Args: "[--json] [--since T] [--source S] [--destination D]",
		Summary: "whether each accepted call is accounted for, and which is not",
		Help: "Accounts for each call that was accepted in a range of time: it was delivered, filtered,\n" +
			"a duplicate, unconnected, given up, or it waits. What none of that holds for is listed. T is a\n" +
			"duration back (24h), a time (2026-11-21T08:30:00Z) or a date; without any it is the last hour.\n" +
			"It only reads from the brokers. The exit code is 0 when everything adds up, 1 when something\n" +
			"is missing, and 2 when nothing can be said of a part of the range, or of all of it.",
		Role:  audit.Role(),
		Fails: int(audit.NotAllSaid),
		Flags: func(set *flag.FlagSet) Run {
			f := newAuditFlags(set)
			return func(ctx context.Context, program settings.Program, _ []string) error {
				chosen, err := f.chosen()
				if err != nil {
					return fmt.Errorf("audit: %w", err)
				}
				return showAudit(ctx, program, chosen, *f.asJSON)
			}
		},
	}
}

// auditFlags are what is typed behind audit.
type auditFlags struct {
	now             time.Time
	since, from, to time.Time
	settle          *time.Duration
	selected        audit.Selection
	asJSON          *bool
}

func newAuditFlags(set *flag.FlagSet) *auditFlags {
	f := &auditFlags{now: time.Now()}
	f.asJSON = set.Bool("json", false, "print one JSON object")
	moment := func(name, usage string, into *time.Time) {
		set.Func(name, usage, func(text string) (err error) {
			*into, err = deadletters.ParseTime(text, f.now)
			return err
		})
	}
	moment("since", "calls accepted since: 24h, 2026-11-21T08:30:00Z or 2026-11-21 (default 1h)", &f.since)
	moment("from", "the same as --since", &f.from)
	moment("to", "calls accepted before that (default now, less what --settle says)", &f.to)
	set.StringVar(&f.selected.Source, "source", "", "only calls of this source")
	set.StringVar(&f.selected.Destination, "destination", "", "only what became of calls at this destination")
	f.settle = set.Duration("settle", usualSettle, "how recent a call is that is not looked at yet")
	return f
}

// chosen is the range that the flags mean, and whose calls.
func (f *auditFlags) chosen() (audit.Settings, error) {
	chosen := audit.Settings{From: f.from, To: f.to, Settle: *f.settle, Selection: f.selected}
	switch {
	case *f.settle < 0:
		return chosen, fmt.Errorf("--settle=%s: expected a duration that is not negative", *f.settle)
	case !f.since.IsZero() && !f.from.IsZero():
		return chosen, errors.New("expected either --since or --from, found both")
	case !f.since.IsZero():
		chosen.From = f.since
	}
	if chosen.To.IsZero() {
		chosen.To = f.now.Add(-chosen.Settle).UTC().Truncate(time.Millisecond)
	}
	if chosen.From.IsZero() {
		chosen.From = chosen.To.Add(-usualAudited)
	}
	if !chosen.From.Before(chosen.To) {
		return chosen, fmt.Errorf("from %s to %s: expected a range that begins before it ends", terminal.Moment(chosen.From), terminal.Moment(chosen.To))
	}
	for name, id := range map[string]string{"source": f.selected.Source, "destination": f.selected.Destination} {
		if id != "" && !schemas.ValidID(id) {
			return chosen, fmt.Errorf("--%s=%s: expected an id, 1 to %d lower-case letters, digits and hyphens", name, id, schemas.MaxIDBytes)
		}
	}
	return chosen, nil
}

func showAudit(ctx context.Context, program settings.Program, chosen audit.Settings, asJSON bool) error {
	return beside(ctx, program, func(proc settings.Process, c *connection) error {
		chosen.Kafka, chosen.Topics, chosen.Stages = c.opts, c.topics, proc.Config.Stages
		if of := &proc.Config.Topics; !proc.Config.Embedded() && of.RawBytes == 0 {
			chosen.Retention = min(of.RawRetention, of.JournalRetention)
		}
		p := progressOn(program, 0)
		chosen.Progress = reading(p, " records")
		report, err := audit.Run(ctx, chosen)
		p.Clear()
		if err != nil {
			return fmt.Errorf("audit: %w", err)
		}
		show := audit.Table
		if asJSON {
			show = audit.JSON
		}
		if err = show(program.Out, report); err != nil {
			return err
		}
		if err = report.Err(); err != nil {
			return exiting(fmt.Errorf("audit: %w", err), int(report.Outcome()))
		}
		return nil
	})
}
