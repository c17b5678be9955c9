package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"

	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

// errRefused ends a visit that can come to no good end.
var errRefused = errors.New("a request was refused")

// relay is the collection API as the browser meets it. Faults come through it
// unchanged, a connection that was cut as one that was cut.
type relay struct {
	server *httptest.Server
	proxy  httputil.ReverseProxy
	fail   context.CancelCauseFunc // is told of each refusal

	mu       sync.Mutex
	accepted [][]byte      // bodies of requests that were answered with 200
	changed  chan struct{} // closed and replaced with each of them
	refused  []string      // requests that no SDK should have been refused
}

// startRelay listens on a loopback port and hands requests on to target, a base
// URL. A secure one speaks TLS and HTTP/2 with a certificate that nobody trusts.
func startRelay(target string, secure bool, fail context.CancelCauseFunc) (*relay, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("read endpoint: %w", err)
	}
	silent := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	r := &relay{fail: fail, changed: make(chan struct{})}
	r.proxy = httputil.ReverseProxy{
		Rewrite:      func(p *httputil.ProxyRequest) { p.SetURL(to); p.Out.Host = p.In.Host },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     silent,
	}
	r.server = httptest.NewUnstartedServer(r)
	r.server.Config.ErrorLog = silent
	if secure {
		r.server.EnableHTTP2 = true
		r.server.StartTLS()
	} else {
		r.server.Start()
	}
	return r, nil
}

// url is its own, without a trailing slash.
func (r *relay) url() string { return r.server.URL }

func (r *relay) close() { r.server.Close() }

// ServeHTTP hands a request on and notes how it was answered.
func (r *relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the browser has given it up
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	noted := &statusWriter{ResponseWriter: w}
	r.proxy.ServeHTTP(noted, req)
	r.note(req, noted.status, body)
}

func (r *relay) note(req *http.Request, status int, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case req.Method == http.MethodPost && status == http.StatusOK:
		r.accepted = append(r.accepted, body)
		close(r.changed)
		r.changed = make(chan struct{})
	case status >= 300 && status != http.StatusNotModified && !comesBack(req.Method, status):
		r.refused = append(r.refused, fmt.Sprintf("%s %s was answered with %d: %.200s", req.Method, req.URL.Path, status, body))
		r.fail(errRefused)
	}
}

// comesBack reports whether the answer has an SDK try again later. Nothing but
// success will do for a preflight.
func comesBack(method string, status int) bool {
	return method == http.MethodPost && (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable)
}

// wait waits until each of the calls was in an accepted request.
func (r *relay) wait(ctx context.Context, calls []scenario.Call) error {
	for {
		missing, changed := r.missing(calls)
		if len(missing) == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for the calls %s: %w", strings.Join(missing, ", "), context.Cause(ctx))
		}
	}
}

// missing returns the marks of calls that no accepted request had, and what is
// closed with the next one.
func (r *relay) missing(calls []scenario.Call) (marks []string, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range calls {
		if !r.has(calls[i].Mark) {
			marks = append(marks, calls[i].Mark)
		}
	}
	return marks, r.changed
}

// has looks for the mark as a JSON string: each call has it somewhere.
func (r *relay) has(mark string) bool {
	for _, body := range r.accepted {
		if bytes.Contains(body, []byte(`"`+mark+`"`)) {
			return true
		}
	}
	return false
}

// refusals returns what should have been accepted and was not.
func (r *relay) refusals() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter

	status int
}

// WriteHeader implements [http.ResponseWriter].
func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
