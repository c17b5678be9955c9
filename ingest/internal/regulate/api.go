package regulate

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxBody bounds a request: 5,000 ids of 800 bytes each.
const maxBody = 4 << 20

// Handler serves the API. Who may use it is for the caller to decide.
//
//	POST /regulations        asks for one: {"data":{"regulateId":"…"}}
//	GET  /regulations/{id}   its status:   {"data":{"regulation":{"overallStatus":"…"}}}
//
// Every other answer is {"errors":[{"type","field","message"}]}: 400 for a body
// that is not JSON, 422 for one that is wrong, with all that is wrong with it, 413
// for one of more than 4 MiB, 503 with Retry-After while the brokers do not
// answer.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /regulations", s.post)
	mux.HandleFunc("GET /regulations/{id}", s.get)
	mux.HandleFunc("/regulations", methods(http.MethodPost))
	mux.HandleFunc("/regulations/{id}", methods(http.MethodGet+", "+http.MethodHead))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, problem{Type: "not-found", Message: "no such path: expected /regulations or /regulations/{id}"})
	})
	return mux
}

// methods refuses every method but those that a path has.
func methods(allowed string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allowed)
		refuse(w, http.StatusMethodNotAllowed, problem{Type: "method-not-allowed", Message: "expected " + allowed})
	}
}

func (s *Service) post(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		refuse(w, http.StatusRequestEntityTooLarge, problem{Type: typeBadRequest, Message: fmt.Sprintf("the body is longer than %d bytes: send fewer users at a time", maxBody)})
		return
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, problem{Type: typeBadRequest, Message: "the body did not arrive whole"})
		return
	}
	req, problems := parse(body)
	if len(problems) > 0 {
		code := http.StatusUnprocessableEntity
		if problems[0].Type == typeBadRequest {
			code = http.StatusBadRequest
		}
		refuse(w, code, problems...)
		return
	}
	stored, err := s.create(req) //nolint:contextcheck // what a client has asked for it does not take back by hanging up
	if err != nil {
		s.log.Warn("regulation may not have been stored, the client has to ask again", "type", string(req.kind), "users", len(req.users), "error", err)
		refuse(w, http.StatusServiceUnavailable, problem{Type: "unavailable", Message: "the request may not have been stored: send it again (if it was stored, destinations are notified twice)"})
		return
	}
	s.log.Info("regulation stored", "regulation", stored.ID, "type", string(stored.Type), "users", stored.Subjects)
	var a created
	a.Data.RegulateID = stored.ID
	answer(w, http.StatusOK, a)
}

func (s *Service) get(w http.ResponseWriter, r *http.Request) {
	if !s.serving() {
		refuse(w, http.StatusServiceUnavailable, problem{Type: "unavailable", Message: "the process is starting or stopping: ask again"})
		return
	}
	found, ok := s.set.Register.Get(r.PathValue("id"))
	if !ok {
		refuse(w, http.StatusNotFound, problem{Type: "not-found", Message: "no regulation has this id"})
		return
	}
	answer(w, http.StatusOK, statusOf(&found))
}

// serving tells whether the register is filled: the service runs once it is.
func (s *Service) serving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}
