package answers

import (
	"encoding/json"
	"net/http"

	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/workspace"
)

// Page is what lists of admin pages say of the answers.
func Page() telemetry.Page {
	return telemetry.Page{Path: "/failed-answers", About: "what endpoints of ?destination=ID said to deliveries that failed; asks for ADMIN_TOKEN, or for the token in DATA_DIR/admin-token"}
}

// found is what a request gets.
type found struct {
	Endpoints []Endpoint `json:"endpoints"`
}

type problem struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// Handler answers GET [Page]?destination=ID with the answers of the endpoints of a
// destination, as JSON. It is for behind [telemetry.RequireToken]. A nil book is one of a sink
// that keeps none.
func (b *Book) Handler(ws *workspace.Live) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.URL.Query().Get("destination")
		d, known := ws.Load().Destination(id)
		switch {
		case r.Method != http.MethodGet:
			w.Header().Set("Allow", http.MethodGet)
			refuse(w, http.StatusMethodNotAllowed, "method_not_allowed", "expected GET")
		case b == nil:
			refuse(w, http.StatusNotFound, "not_kept", "answers are not kept: WEBHOOK_SINK_KEEP_ANSWERS is false")
		case id == "":
			refuse(w, http.StatusBadRequest, "invalid_request", "expected ?destination=ID")
		case !known:
			refuse(w, http.StatusNotFound, "not_found", "the workspace has no destination of that id")
		default:
			answer(w, http.StatusOK, found{b.Of(d)})
		}
	})
}

func refuse(w http.ResponseWriter, status int, kind, text string) {
	answer(w, status, map[string][]problem{"errors": {{kind, text}}})
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client has gone; there is nobody to tell
}
