package console

import (
	"net/http"
	"time"

	"github.com/anabranch/anabranch/internal/console/internal/door"
	"github.com/anabranch/anabranch/internal/console/internal/jobs"
	"github.com/anabranch/anabranch/internal/terminal"
)

// page is one address of the console: a file of its own, and a template of its own. What it
// shows is a value, its view, that is made of an answer by a function without effects.
type page struct {
	path     string // below [Path], as a pattern of [http.ServeMux]
	name     string // in the navigation; empty: it is not there
	below    string // path of the page in the navigation that it belongs to, if it is not there itself
	template string // file below templates
	view     func(*visit) (*content, error)
}

// pages are all of them, those of the navigation in its order.
func (c *Console) pages() []page {
	return []page{
		{path: "/{$}", name: "Overview", template: "overview.html", view: c.overview},
		{path: "/live", name: "Live", template: "live.html", view: c.live},
		{path: "/call", below: "/live", template: "call.html", view: c.call},
		{path: "/destinations", name: "Destinations", template: "destinations.html", view: c.destinations},
		{path: "/events", name: "Events", template: "events.html", view: c.events},
		{path: "/dead-letters", name: "Dead letters", template: "deadletters.html", view: c.deadLetters},
		{path: "/replays", name: "Replays", template: "replays.html", view: c.replays},
		{path: "/personas", name: "Audiences and traits", template: "personas.html", view: c.personas},
		{path: "/persona", below: "/personas", template: "persona.html", view: c.persona},
		{path: "/members", below: "/personas", template: "members.html", view: c.members},
		{path: "/profile", below: "/personas", template: "profile.html", view: c.profile},
		{path: "/explain", below: "/personas", template: "explain.html", view: c.explain},
		{path: "/history", below: "/personas", template: "history.html", view: c.history},
		{path: "/growth", below: "/personas", template: "growth.html", view: c.growth},
		{path: "/preview", below: "/personas", template: "preview.html", view: c.preview},
		{path: "/check", below: "/personas", template: "check.html", view: c.check},
		{path: "/resync", below: "/personas", template: "resync.html", view: c.resync},
		{path: "/workspace", name: "Workspace", template: "workspace.html", view: c.workspace},
		{path: "/workspace/plan", below: "/workspace", template: "workspaceplan.html", view: c.showWorkspacePlan},
		{path: "/workspace/history", below: "/workspace", template: "workspacehistory.html", view: c.workspaceHistory},
		{path: "/violations", below: "/workspace", template: "violations.html", view: c.violations},
		{path: "/deletions", name: "Deletions", template: "deletions.html", view: c.deletions},
		{path: "/jobs", name: "Jobs", template: "jobs.html", view: c.listJobs},
		{path: "/job", below: "/jobs", template: "job.html", view: c.job},
		{path: "/redrive", below: "/dead-letters", template: "redrive.html", view: c.redrive},
		{path: "/replay", below: "/replays", template: "replay.html", view: c.replay},
		{path: "/replay/plan", below: "/replays", template: "replayplan.html", view: c.planReplay},
		{path: "/event", below: "/events", template: "event.html", view: c.event},
		{path: "/dead-letter", below: "/dead-letters", template: "deadletter.html", view: c.deadLetter},
		{path: "/test-send", below: "/destinations", template: "testsend.html", view: c.testSend},
		{path: "/destination", below: "/destinations", template: "destination.html", view: c.destination},
	}
}

// visit is one look at a page.
type visit struct {
	*http.Request

	who door.Visitor
	now time.Time
}

// job is one that the visitor begins.
func (v *visit) job(kind, what string) jobs.Job {
	return jobs.Job{Kind: kind, What: what, By: v.who.Name}
}

// text is a field of the query, as it was sent.
func (v *visit) text(name string) string { return v.URL.Query().Get(name) }

// choice is a field of the query that has to be one of some words, the first where it is
// left out.
func (v *visit) choice(name string, of []option) (string, error) {
	word := v.text(name)
	if !v.URL.Query().Has(name) {
		return of[0].Value, nil
	}
	for _, o := range of {
		if o.Value == word {
			return word, nil
		}
	}
	return "", &problem{http.StatusBadRequest, name + " is " + terminal.Safe(word) + ", which is none of the choices"}
}

// option is one of the choices of a field.
type option struct{ Value, Text string }

// backs are how far back a page may look.
func backs() []option {
	return []option{{"24h", "the last 24 hours"}, {"1h", "the last hour"}, {"168h", "the last 7 days"}, {"720h", "the last 30 days"}}
}

// back is the field since: how far back to look.
func (v *visit) back() (text string, back time.Duration, err error) {
	if text, err = v.choice("since", backs()); err == nil {
		back, err = time.ParseDuration(text)
	}
	return text, back, err
}

// content is what a page shows.
type content struct {
	title string
	// again is when the page should be looked at again; zero: when the person wants to.
	again time.Duration
	view  any
}

// problem is an answer that is no page: the request, and what was expected of it.
type problem struct {
	status int
	text   string
}

// Error is what the person reads.
func (p *problem) Error() string { return p.text }

// show answers with a page whoever may look at it.
func (c *Console) show(p page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, in := c.door.Visitor(r)
		if !in {
			c.askIn(w, r)
			return
		}
		v := &visit{Request: r, who: who, now: time.Now()}
		shown, err := p.view(v)
		if err != nil {
			c.fail(w, v, err)
			return
		}
		c.render(w, v, http.StatusOK, &p, shown)
	})
}
