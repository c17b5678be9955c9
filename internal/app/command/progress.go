package command

import (
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/terminal"
)

// progressOn is the progress of a command, beside what it prints; every is how often a line of
// it stands in a log, 0 for never.
func progressOn(program settings.Program, every time.Duration) *terminal.Progress {
	return &terminal.Progress{Out: program.Err, Live: settings.Terminal(program.Err), Every: every}
}

// reading shows how much of something is read; what names it, and may be empty.
func reading(p *terminal.Progress, what string) func(done, total int64) {
	return func(done, total int64) {
		p.Show(time.Now(), func() string {
			return "read " + terminal.Count(done) + " of " + terminal.Count(total) + what
		})
	}
}
