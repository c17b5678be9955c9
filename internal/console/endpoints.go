package console

import (
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/webhook-sink/endpoints"
)

// fareView is how the endpoints of a destination fare, as the sink of this process has seen it.
type fareView struct {
	Elsewhere bool // no sink runs in this process
	Endpoints []fareRow
}

type fareRow struct {
	URL, Is, Why, Next             string
	Attempts, Failed, Median, Slow string
}

// fareOf shows how endpoints fare; nil: the destination is not sent webhooks.
func (c *Console) fareOf(d *workspace.Destination, now time.Time) *fareView {
	switch {
	case !d.Is(workspace.TypeWebhooks) || len(d.Endpoints) == 0:
		return nil
	case c.Endpoints == nil:
		return &fareView{Elsewhere: true}
	}
	view := new(fareView)
	for _, e := range c.Endpoints(d) {
		view.Endpoints = append(view.Endpoints, fareRowOf(&e, now))
	}
	return view
}

func fareRowOf(e *endpoints.Endpoint, now time.Time) fareRow {
	row := fareRow{URL: e.URL, Is: string(e.State), Next: "-", Attempts: terminal.Count(e.Attempts), Failed: terminal.Count(e.Failed), Median: "-", Slow: "-"}
	if row.Why = e.Why; e.Detail != "" {
		row.Why += " (" + e.Detail + ")"
	}
	switch {
	case e.State != endpoints.Down:
	case e.Next.After(now):
		row.Next = terminal.Moment(e.Next)
	default:
		row.Next = "with the next event"
	}
	if e.Of > 0 {
		row.Median, row.Slow = milliseconds(e.Median), milliseconds(e.Slow)
	}
	return row
}

func milliseconds(d time.Duration) string { return terminal.Count(d.Milliseconds()) + " ms" }
