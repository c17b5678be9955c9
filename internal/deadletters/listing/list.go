package listing

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

// Table prints the selected dead letters below each other and then how many there
// are by destination and reason.
func Table(ctx context.Context, log *deadletters.Log, selected deadletters.Selection, w io.Writer) error {
	view, err := deadletters.Open(ctx, log, selected)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	table := &terminal.Columns{Out: out}
	counts := make(summary)
	err = view.Each(ctx, func(l *deadletters.Letter) error {
		if len(counts) == 0 {
			header(table)
		}
		counts.add(l)
		return row(table, l)
	})
	if err != nil {
		return err
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if err := counts.print(out, selected.All()); err != nil {
		return err
	}
	return out.Flush()
}

func header(c *terminal.Columns) {
	_ = c.Row("ID", "FAILED AT", "DESTINATION", "REASON", "ATTEMPTS", "TYPE", "MESSAGE ID", "REDRIVEN AT", "DETAIL") // it waits
}

func row(c *terminal.Columns, l *deadletters.Letter) error {
	h := &l.Headers
	detail := h.Detail
	if l.Unreadable != nil {
		detail = l.Unreadable.Error()
	}
	return c.Row(l.ID.String(), terminal.Moment(l.FailedAt()), terminal.Safe(h.Destination), terminal.Safe(string(h.Reason)), strconv.Itoa(h.Attempt),
		terminal.Safe(string(h.Type)), terminal.Safe(h.MessageID), terminal.Moment(l.RedrivenAt), terminal.Safe(detail))
}

// summary counts dead letters. It grows with destinations and reasons.
type summary map[group]*tally

type group struct {
	destination string
	reason      schemas.Reason
}

type tally struct{ all, redriven int }

func (s summary) add(l *deadletters.Letter) {
	g := group{l.Headers.Destination, l.Headers.Reason}
	if s[g] == nil {
		s[g] = new(tally)
	}
	s[g].all++
	if !l.RedrivenAt.IsZero() {
		s[g].redriven++
	}
}

func (s summary) print(w io.Writer, everything bool) error {
	if len(s) == 0 {
		none := "no dead letters match"
		if everything {
			none = "no dead letters"
		}
		_, err := fmt.Fprintln(w, none)
		return err
	}
	groups := slices.SortedFunc(maps.Keys(s), func(a, b group) int {
		return cmp.Or(cmp.Compare(a.destination, b.destination), cmp.Compare(a.reason, b.reason))
	})
	table := &terminal.Columns{Out: w}
	_ = table.Row("", "DESTINATION", "REASON", "DEAD LETTERS", "REDRIVEN")
	var total tally
	for _, g := range groups {
		n := s[g]
		total.all, total.redriven = total.all+n.all, total.redriven+n.redriven
		if err := table.Row("", terminal.Safe(g.destination), terminal.Safe(string(g.reason)), strconv.Itoa(n.all), strconv.Itoa(n.redriven)); err != nil {
			return err
		}
	}
	if err := table.Row("", "all", "", strconv.Itoa(total.all), strconv.Itoa(total.redriven)); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return table.Flush()
}
