package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table is figures that belong side by side.
type Table struct {
	Head []string
	Rows [][]string
}

// Add adds a row; each cell is printed as by fmt.Sprint.
func (t *Table) Add(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = fmt.Sprint(cell)
	}
	t.Rows = append(t.Rows, row)
}

// text writes it for a terminal.
func (t *Table) text(w io.Writer) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		_, _ = fmt.Fprintf(columns, "  %s\n", strings.Join(row, "\t")) // Flush tells
	}
	return columns.Flush()
}

// markdown writes it for a page.
func (t *Table) markdown(w *strings.Builder) {
	fmt.Fprintf(w, "\n| %s |\n|%s\n", strings.Join(t.Head, " | "), strings.Repeat("---|", len(t.Head)))
	for _, row := range t.Rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
	}
}
