package console

import (
	"strings"

	"github.com/anabranch/anabranch/internal/terminal"
)

// few names the first of many, and says how many more there are.
func few(names []string) string {
	more := len(names) - fewest
	if more <= 0 {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:fewest], ", ") + " and " + terminal.Count(int64(more)) + " more"
}

// linesPerPage is how many lines of what a command prints are shown at once.
const linesPerPage = 400

// pagedLines returns a page of a text.
func pagedLines(text, number string) (string, pager) {
	lines, p := pagedBy(linesPerPage, strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n"), number)
	return strings.Join(lines, ""), p
}
