package status

import (
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
)

const (
	// importsDone is how long an import is shown after its end, and importsOpen one that
	// nobody has gone on with: who has not for a week has given it up.
	importsDone = 24 * time.Hour
	importsOpen = 7 * 24 * time.Hour
	// importSilent is how long nothing need be heard of an import that goes on: it waits
	// while the router is behind.
	importSilent = 5 * time.Minute
)

// Import is one that was begun not long ago, as it tells of itself.
type Import struct {
	Files   string    `json:"files"` // as they were named to the command
	Source  string    `json:"source"`
	Rows    int64     `json:"rows"` // that are in; with those refused
	Refused int64     `json:"refused"`
	Done    bool      `json:"done"`
	Started time.Time `json:"started"`
	Heard   time.Time `json:"heard"` // when something was last written about it
}

// state is what it does at a time.
func (i *Import) state(now time.Time) string {
	switch {
	case i.Done:
		return "done"
	case now.Sub(i.Heard) > importSilent:
		return "standing still"
	default:
		return "running"
	}
}

// recent tells whether it is worth showing.
func (i *Import) recent(now time.Time) bool {
	if i.Done {
		return now.Sub(i.Heard) < importsDone
	}
	return now.Sub(i.Heard) < importsOpen
}

func (p *printer) imports() {
	if len(p.r.Imports) == 0 {
		return
	}
	rows := [][]string{{"IMPORT", "IS", "SOURCE", "ROWS", "REFUSED", "HEARD OF"}}
	for n := range p.r.Imports {
		i := &p.r.Imports[n]
		rows = append(rows, []string{
			terminal.Safe(i.Files), i.state(p.r.At), terminal.Safe(i.Source), terminal.Count(i.Rows), terminal.Count(i.Refused),
			terminal.Brief(p.r.At.Sub(i.Heard)) + " ago",
		})
	}
	p.table(rows)
}

// adviseImports tells of those that nobody goes on with.
func (r *Report) adviseImports(add func(about, problem, do string)) {
	for n := range r.Imports {
		i := &r.Imports[n]
		if silent := r.At.Sub(i.Heard); !i.Done && silent > importSilent {
			add("import "+i.Files, "nothing was heard of it for "+terminal.Brief(silent)+", with "+terminal.Count(i.Rows)+" rows in",
				"`anabranch import start` with the same files continues behind the last row that is in")
		}
	}
}
