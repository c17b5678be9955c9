package telemetry

import (
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// A Page is what the admin address has under a path.
type Page struct {
	Path  string
	About string // what it is for, in a line
}

// Pages are those that every process serves on ADMIN_ADDR (the surface of the product).
func Pages() []Page {
	return []Page{
		{"/", "this list"},
		{"/metrics", "counters and gauges, in the text format of Prometheus"},
		{"/healthz", "200 as long as the process answers at all"},
		{"/readyz", "200 when it is ready, else 503 and what is missing"},
		{"/debug/pprof/", "profiles of the process, unless ADMIN_PPROF is false"},
	}
}

// Route is a page that only some processes have, and what is below it.
type Route struct {
	Page

	Handler http.Handler
}

// Admin is what the admin address of a process shows.
type Admin struct {
	Gatherer prometheus.Gatherer // of /metrics
	// Ready returns nil when the process is ready, else what is missing. It is called for each request of /readyz and
	// must answer at once.
	Ready    func() error
	Profiles bool    // whether there is /debug/pprof/
	Routes   []Route // beside [Pages]; one that changes anything is given behind [RequireToken]
}

// Handler returns the pages. None of its own changes anything, so none asks for a token. Profiles are served from handlers
// set here, since importing net/http/pprof for its side effect would put them on the default mux, which a library may serve
// without our knowledge.
//
// A CPU profile takes as long as ?seconds= says (30 by default): the server needs a write timeout above that, or none.
func (a *Admin) Handler() http.Handler {
	mux := http.NewServeMux()
	pages := Pages()
	for _, route := range a.Routes {
		pages = append(pages, route.Page)
		path := strings.TrimSuffix(route.Path, "/")
		mux.Handle(path, route.Handler)
		mux.Handle(path+"/", route.Handler)
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		if strings.Contains(r.Header.Get("Accept"), "text/html") {
			answerLinks(w, pages)
			return
		}
		answer(w, http.StatusOK, index(pages))
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.Gatherer, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if missing := a.Ready(); missing != nil {
			answer(w, http.StatusServiceUnavailable, missing.Error())
			return
		}
		answer(w, http.StatusOK, "ready")
	})
	if a.Profiles {
		handleProfiles(mux)
	}
	return guardLoopback(mux)
}

// index lists pages for a person.
func index(pages []Page) string {
	lines := make([]string, len(pages))
	for i, page := range pages {
		lines[i] = fmt.Sprintf("%-16s %s", page.Path, page.About)
	}
	return strings.Join(lines, "\n")
}

// links is the index for browsers.
var links = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Anabranch</title></head>
<body><h1>Anabranch</h1><dl>{{range .}}
<dt><a href="{{.Path}}">{{.Path}}</a></dt><dd>{{.About}}</dd>{{end}}
</dl></body></html>
`))

func answerLinks(w http.ResponseWriter, pages []Page) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Cache-Control", "no-store")
	_ = links.Execute(w, pages) // the client has gone; there is nobody to tell
}

func handleProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}

// answer writes a short plain text that no cache may keep: a kept /readyz would lie.
func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	io.WriteString(w, text+"\n") //nolint:errcheck // the client has gone; there is nobody to tell
}
