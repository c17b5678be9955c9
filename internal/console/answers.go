package console

import (
	"net/url"
	"strconv"

	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/webhook-sink/answers"
)

// failedView is what the endpoints of a destination said to deliveries that failed.
type failedView struct {
	Elsewhere string // where they are to be asked for; empty: here
	Off       bool   // they are not kept
	Endpoints []failedEndpoint
}

type failedEndpoint struct {
	Position int
	URL      string
	Answers  []failedAnswer
}

type failedAnswer struct {
	At, Status, Took, MessageID, Body string
	URL                               string // of the endpoint, where it is not said elsewhere
}

// failedOf shows what the sink of this process knows; nil: the destination is not sent
// webhooks.
func (c *Console) failedOf(d *workspace.Destination) *failedView {
	switch {
	case !d.Is(workspace.TypeWebhooks):
		return nil
	case !c.Sink:
		return &failedView{Elsewhere: answers.Page().Path + "?destination=" + url.QueryEscape(d.ID)}
	case c.Answers == nil:
		return &failedView{Off: true}
	}
	view := new(failedView)
	for _, e := range c.Answers.Of(d) {
		shown := failedEndpoint{Position: e.Position, URL: e.URL}
		for i := range e.Answers {
			a := &e.Answers[i]
			shown.Answers = append(shown.Answers, failedAnswer{
				At: terminal.Moment(a.At), Status: strconv.Itoa(a.Status), Took: terminal.Count(a.MS), MessageID: a.MessageID, Body: a.Body,
			})
		}
		view.Endpoints = append(view.Endpoints, shown)
	}
	return view
}

// to are those to attempts with an event; f may be nil.
func (f *failedView) to(messageID string) (all []failedAnswer) {
	if f == nil {
		return nil
	}
	for _, e := range f.Endpoints {
		for _, a := range e.Answers {
			if a.MessageID == messageID {
				a.URL = e.URL
				all = append(all, a)
			}
		}
	}
	return all
}
