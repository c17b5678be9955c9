package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// page is how many rows are looked at before the first is printed, to know how
// wide columns are. Rows behind them may widen a column, from then on.
const page = 200

// Columns prints rows below each other while they come: a table that waited for
// its last row would hold all of them.
type Columns struct {
	Out io.Writer

	widths  []int
	waiting [][]string
	flowing bool
}

// Row adds a row. The last column is not padded.
func (c *Columns) Row(cells ...string) error {
	for i, cell := range cells {
		if i == len(c.widths) {
			c.widths = append(c.widths, 0)
		}
		c.widths[i] = max(c.widths[i], utf8.RuneCountInString(cell))
	}
	if c.flowing {
		return c.print(cells)
	}
	c.waiting = append(c.waiting, cells)
	if len(c.waiting) < page {
		return nil
	}
	return c.Flush()
}

// Flush prints the rows that wait.
func (c *Columns) Flush() error {
	for _, cells := range c.waiting {
		if err := c.print(cells); err != nil {
			return err
		}
	}
	c.flowing, c.waiting = true, nil
	return nil
}

func (c *Columns) print(cells []string) error {
	var line strings.Builder
	for i, cell := range cells {
		line.WriteString(cell)
		if i < len(cells)-1 {
			line.WriteString(strings.Repeat(" ", c.widths[i]-utf8.RuneCountInString(cell)+2))
		}
	}
	_, err := fmt.Fprintln(c.Out, strings.TrimRight(line.String(), " "))
	return err
}

// Table prints rows below each other.
func Table(w io.Writer, rows [][]string) error {
	out := bufio.NewWriter(w)
	c := &Columns{Out: out}
	for _, row := range rows {
		_ = c.Row(row...) // Flush tells
	}
	if err := c.Flush(); err != nil {
		return err
	}
	return out.Flush()
}
