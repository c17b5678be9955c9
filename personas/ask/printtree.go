package ask

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/anabranch/anabranch/internal/terminal"
)

// Verdict says how the user stands to it, in words that go between the two.
func (e *Explanation) Verdict() string {
	if e.Member {
		return "is in"
	}
	return "is not in"
}

// PrintExplanation prints a tree, each node below its parent.
func PrintExplanation(w io.Writer, e *Explanation) error {
	out := bufio.NewWriter(w)
	_, _ = fmt.Fprintf(out, "%s %s %s as of %s\n\n", terminal.Safe(e.UserID), e.Verdict(), terminal.Safe(e.Key), terminal.Moment(e.AsOf))
	if e.Tree == nil {
		_, _ = fmt.Fprintln(out, "nothing fails")
		return out.Flush()
	}
	c := &terminal.Columns{Out: out}
	_ = c.Row("HOLDS", "NODE", "VALUE", "EXPECTED", "FLIPS AT", "COUNTED")
	e.Tree.rows(c, 0)
	if err := c.Flush(); err != nil {
		return err
	}
	if e.Deleted > 0 {
		_, _ = fmt.Fprintf(out, "\nraw-events no longer has the first %s offsets: calls of that time may count and are not listed\n", terminal.Count(e.Deleted))
	}
	return out.Flush()
}

func (n *Node) rows(c *terminal.Columns, depth int) {
	holds := "no"
	if n.Holds {
		holds = "yes"
	}
	value := "-"
	if n.Value != nil {
		value = printable(n.Value)
	}
	_ = c.Row(holds, strings.Repeat("  ", depth)+printable([]byte(n.Node)), value, terminal.Safe(n.Expected()), moment(n.FlipsAt), safeAll(n.MessageIDs)) // Flush tells
	for _, child := range n.Children {
		child.rows(c, depth+1)
	}
}

// Expected says what is expected of the value, and by how much it misses that; empty: nothing is.
func (n *Node) Expected() string {
	if by := n.lacks(); by != "" {
		return n.Threshold + " (" + by + ")"
	}
	return n.Threshold
}

// lacks says by how much a number misses what is expected of it; empty: it does not, or
// there is no saying.
func (n *Node) lacks() string {
	op, operand, _ := strings.Cut(n.Threshold, " ")
	want, err := strconv.ParseFloat(operand, 64)
	if n.Holds || err != nil {
		return ""
	}
	got, err := strconv.ParseFloat(string(n.Value), 64)
	if err != nil {
		return ""
	}
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', 12, 64) }
	switch {
	case op == "gte", op == "eq" && got < want:
		return "short by " + number(want-got)
	case op == "gt":
		return "short by more than " + number(want-got)
	case op == "lte", op == "eq", op == "lt":
		return "over by " + number(got-want)
	default:
		return ""
	}
}
