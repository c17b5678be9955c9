package listing

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

// Event prints the value of one dead letter as it is, with a line feed behind it.
func Event(ctx context.Context, log *deadletters.Log, id deadletters.ID, w io.Writer) error {
	return one(ctx, log, id, func(l *deadletters.Letter) error {
		event, err := log.Event(ctx, l)
		if err != nil {
			return fmt.Errorf("dead letter %s: %w", id, err)
		}
		_, err = fmt.Fprintf(w, "%s\n", event.Value)
		return err
	})
}

// Show prints all that is known of one dead letter, and its event. That the event
// is gone is part of what is known.
func Show(ctx context.Context, log *deadletters.Log, id deadletters.ID, w io.Writer) error {
	return one(ctx, log, id, func(l *deadletters.Letter) error {
		out := bufio.NewWriter(w)
		table := &terminal.Columns{Out: out}
		for _, f := range Facts(l, maxRaw) {
			_ = table.Row(f.Name, f.Text) // it waits
		}
		if err := table.Flush(); err != nil {
			return err
		}
		if answer := Answer(l); answer != "" {
			_, _ = fmt.Fprintf(out, "\nwhat the endpoint answered to the last attempt, its first %s bytes at most:\n\n%s\n", terminal.Count(schemas.MaxAnswerBytes), answer)
		}
		event, err := log.Event(ctx, l)
		switch {
		case errors.Is(err, deadletters.ErrGone):
			_, _ = fmt.Fprintf(out, "\nno event: %v\n", err)
		case err != nil:
			return err
		default:
			_, _ = fmt.Fprintf(out, "\n%s\n", Pretty(event.Value, maxRaw))
		}
		return out.Flush()
	})
}

func one(ctx context.Context, log *deadletters.Log, id deadletters.ID, show func(*deadletters.Letter) error) error {
	view, err := deadletters.Open(ctx, log, deadletters.Selection{IDs: []deadletters.ID{id}})
	if err != nil {
		return err
	}
	return view.Each(ctx, show)
}

// Fact is one thing that is known of a dead letter, in words that a terminal may show.
type Fact struct{ Name, Text string }

// Facts are what was found out about the event, then every header as it is on the wire,
// those of other versions and other tools included, each up to so many bytes; but for the one
// that [Answer] shows.
func Facts(l *deadletters.Letter, most int) []Fact {
	h := &l.Headers
	all := []Fact{
		{"dead letter", l.ID.String()},
		{"failed at", terminal.Moment(l.FailedAt())},
		{"destination", terminal.Safe(h.Destination)},
		{"reason", terminal.Safe(string(h.Reason))},
		{"detail", terminal.Safe(h.Detail)},
		{"attempts", strconv.Itoa(h.Attempt)},
		{"first attempt", terminal.Moment(h.FirstAttempt)},
		{"redriven at", terminal.Moment(l.RedrivenAt)},
		{"key", terminal.Safe(string(l.Record.Key))},
		{"value", size(l)},
	}
	if l.Unreadable != nil {
		all = append(all, Fact{"unreadable", terminal.Safe(l.Unreadable.Error())})
	}
	all = append(all, Fact{"headers", ""})
	for _, header := range l.Record.Headers {
		if header.Key == schemas.HeaderAnswer && len(h.Answer) > 0 {
			continue // see Answer
		}
		all = append(all, Fact{"  " + terminal.Safe(header.Key), terminal.Safe(cut(string(header.Value), most))})
	}
	return all
}

// Answer is what the endpoint said to the last attempt, over several lines, as a terminal may
// show it; empty: that is not known.
func Answer(l *deadletters.Letter) string {
	return string(terminal.AppendPrintable(nil, l.Headers.Answer))
}

func size(l *deadletters.Letter) string {
	if l.Headers.Reference {
		return "left out because of its size; the original record is at " + l.Headers.From.String()
	}
	return strconv.Itoa(len(l.Record.Value)) + " bytes"
}

func cut(text string, most int) string {
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
