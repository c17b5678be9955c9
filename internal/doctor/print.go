package doctor

import (
	"bufio"
	"fmt"
	"io"

	"github.com/anabranch/anabranch/internal/terminal"
)

// JSON prints a diagnosis as one object.
func JSON(w io.Writer, d *Diagnosis) error { return terminal.JSON(w, d) }

// Table prints a diagnosis for people: a line for each finding, and below it what to
// do.
func Table(w io.Writer, d *Diagnosis) error {
	out := bufio.NewWriter(w) // remembers its first error
	for _, f := range d.Findings {
		about := ""
		if f.About != "" {
			about = terminal.Safe(f.About) + ": "
		}
		_, _ = fmt.Fprintf(out, "%-8s %-12s %s%s\n", f.Level, f.Check, about, terminal.Safe(f.Found))
		if f.Do != "" {
			_, _ = fmt.Fprintf(out, "%21s -> %s\n", "", f.Do)
		}
	}
	_, _ = fmt.Fprintf(out, "\n%s\n", d)
	return out.Flush()
}

// String is the diagnosis in a few words.
func (d *Diagnosis) String() string {
	if d.Problems+d.Warnings == 0 {
		return "all is well"
	}
	return number(d.Problems, "problem") + ", " + number(d.Warnings, "warning")
}

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
