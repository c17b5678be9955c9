package apply

import (
	"fmt"
	"io"

	"github.com/anabranch/anabranch/internal/terminal"
)

// progress shows how many topics are created: on a terminal in one line that changes,
// elsewhere in a line for each tenth.
type progress struct {
	out      io.Writer
	terminal bool

	done, total int
}

// tell is called when done topics of total exist, for the first time with none.
func (p *progress) tell(done, total int) {
	before := p.done
	p.done, p.total = done, total
	text := fmt.Sprintf("created %s of %s topics", terminal.Count(int64(done)), terminal.Count(int64(total)))
	const parts = 10
	switch {
	case p.terminal && done < total:
		text = "\r" + text
	case p.terminal:
		text = "\r" + text + "\n"
	case done > 0 && done < total && done*parts/total == before*parts/total:
		return
	default:
		text += "\n"
	}
	// Nothing hangs on it: whether the workspace was applied, the last line tells.
	_, _ = io.WriteString(p.out, text)
}

// left ends the text of an error with what was done before it; empty unless topics
// were still being created.
func (p *progress) left() string {
	if p.done == p.total {
		return ""
	}
	return fmt.Sprintf("; %s of %s topics were created and nothing else was changed: run the same command again to continue",
		terminal.Count(int64(p.done)), terminal.Count(int64(p.total)))
}
