package console

import (
	"net/http"
	"time"

	"github.com/anabranch/anabranch/internal/console/internal/door"
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
		{path: "/destinations", name: "Destinations", template: "destinations.html", view: c.destinations},
		{path: "/destination", below: "/destinations", template: "destination.html", view: c.destination},
	}
}

// visit is one look at a page.
type visit struct {
	*http.Request

	who door.Visitor
	now time.Time
}

// text is a field of the query, as it was sent.
func (v *visit) text(name string) string { return v.URL.Query().Get(name) }

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
