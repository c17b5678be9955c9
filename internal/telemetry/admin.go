package telemetry

import (
	"io"
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Route is a page that only some processes have.
type Route struct {
	Pattern string // of [http.ServeMux]
	Handler http.Handler
}

// AdminHandler returns the pages that every process serves on ADMIN_ADDR (the surface of the product):
//
//	GET /metrics        what gatherer gathers, in the Prometheus text format
//	GET /healthz        200 "ok" as long as the process answers at all
//	GET /readyz         200 "ready" when ready returns nil, else 503 with the text of its error: what is missing
//	GET /debug/pprof/   the profiles of net/http/pprof
//
// and beside them the routes of the process's own. ready is called once for each request and must answer at once. None
// of the pages above changes anything, so none asks for a token; a route that does is given behind a [Guard]. Profiles are served from handlers set here, since importing net/http/pprof for its side effect would
// put them on the default mux, which a library may serve without our knowledge.
//
// A CPU profile takes as long as ?seconds= says (30 by default): the server needs a write timeout above that, or none.
func AdminHandler(gatherer prometheus.Gatherer, ready func() error, routes ...Route) http.Handler {
	mux := http.NewServeMux()
	for _, route := range routes {
		mux.Handle(route.Pattern, route.Handler)
	}
	mux.Handle("GET /metrics", promhttp.HandlerFor(gatherer, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if missing := ready(); missing != nil {
			answer(w, http.StatusServiceUnavailable, missing.Error())
			return
		}
		answer(w, http.StatusOK, "ready")
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// answer writes a short plain text that no cache may keep: a kept /readyz would lie.
func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	io.WriteString(w, text+"\n") //nolint:errcheck // the client has gone; there is nobody to tell
}
