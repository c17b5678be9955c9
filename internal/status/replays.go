package status

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
)

// Replay is one that is not over, as those who carry it out tell of it.
type Replay struct {
	ID        string            `json:"id"`
	State     string            `json:"state"` // waiting (for a router), running, paused or cancelled
	Read      int64             `json:"read"`  // offsets, for all destinations together
	Total     int64             `json:"total"` // of them
	Sent      int64             `json:"sent"`
	Heard     time.Time         `json:"heard"`            // when something was last written about it
	Remaining *int64            `json:"remainingSeconds"` // null: it is not known
	Trouble   map[string]string `json:"trouble"`          // what it waits for, by destination
}

func (p *printer) replays() {
	if len(p.r.Replays) == 0 {
		return
	}
	rows := [][]string{{"REPLAY", "IS", "READ", "SENT", "REMAINING", "HEARD OF"}}
	for i := range p.r.Replays {
		r := &p.r.Replays[i]
		remaining := "-"
		if r.Remaining != nil {
			remaining = terminal.Brief(time.Duration(*r.Remaining) * time.Second)
		}
		rows = append(rows, []string{
			r.ID, r.State, fmt.Sprintf("%d%%", r.Read*100/max(r.Total, 1)), terminal.Count(r.Sent), remaining,
			terminal.Brief(p.r.At.Sub(r.Heard)) + " ago",
		})
	}
	p.table(rows)
}

// adviseReplays tells which replays stand still.
func (r *Report) adviseReplays(add func(about, problem, do string)) {
	for i := range r.Replays {
		p := &r.Replays[i]
		silent := r.At.Sub(p.Heard)
		switch {
		case p.State == "paused":
		case silent > slow && p.State == "waiting":
			add("replay "+p.ID, "no router has taken it up for "+terminal.Brief(silent), "start a router, or look at the logs of those that run")
		case silent > slow:
			add("replay "+p.ID, "nothing was heard of it for "+terminal.Brief(silent), "look at the logs of the routers; if none runs, start one")
		default:
			for _, id := range slices.Sorted(maps.Keys(p.Trouble)) {
				add("replay "+p.ID, id+" "+p.Trouble[id], "it goes on by itself when the destination takes events; `anabranch replay show "+p.ID+"` has the rest")
			}
		}
	}
}
