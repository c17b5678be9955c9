package apply

import (
	"fmt"
	"io"

	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
)

// Lines are what an application changed, as a plan prints it.
func Lines(a *workspace.Application) []string {
	lines := make([]string, 0, len(a.Changes)+1)
	for i := range a.Changes {
		lines = append(lines, terminal.Safe(a.Changes[i].String()))
	}
	if a.More > 0 {
		lines = append(lines, fmt.Sprintf("and %s changes more", terminal.Count(int64(a.More))))
	}
	return lines
}

// By is who did something, in words.
func By(name string) string {
	if name == "" {
		return "not known"
	}
	return terminal.Safe(name)
}

// PrintHistory prints applications below each other, each with what it changed.
func PrintHistory(w io.Writer, all []workspace.Application) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "no application is known of")
		return err
	}
	for i := range all {
		if _, err := fmt.Fprintf(w, "%s  by %s\n", terminal.Moment(all[i].At), By(all[i].By)); err != nil {
			return err
		}
		for _, line := range Lines(&all[i]) {
			if _, err := fmt.Fprintln(w, "  "+line); err != nil {
				return err
			}
		}
	}
	return nil
}

// PrintHoldings prints what is in force, and when and by whom each was last changed.
func PrintHoldings(w io.Writer, all []workspace.Holding) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "nothing is in force")
		return err
	}
	rows := [][]string{{"KIND", "ID", "CHANGED AT", "BY"}}
	for _, one := range all {
		rows = append(rows, []string{one.Kind, terminal.Safe(one.ID), terminal.Moment(one.Changed), By(one.By)})
	}
	return terminal.Table(w, rows)
}
