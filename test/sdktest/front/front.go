package front

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Request is one request as it came.
type Request struct {
	Method string
	Path   string
	Query  string
	Header http.Header
	Body   []byte // as it was sent, compressed or not
	Fault  string // what it met in place of the product; empty: nothing
	Status int    // of the answer that it got; 0: none
}

// Front is a listening proxy. Its methods may be called at any time.
type Front struct {
	// URL is its own, without a trailing slash.
	URL string

	server *http.Server
	proxy  *httputil.ReverseProxy
	served sync.WaitGroup

	mu       sync.Mutex
	faults   []Fault // that are still to come
	injected []Fault
	requests []*Request
}

// Start listens on a loopback port and hands requests on to target, a base URL.
// Each of the faults meets one request that carries calls, in the order of their
// arrival.
func Start(target string, faults []Fault) (*Front, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("read target: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed with the front
	if err != nil {
		return nil, err
	}
	silent := slog.NewLogLogger(slog.DiscardHandler, 0)
	f := &Front{URL: "http://" + l.Addr().String(), faults: slices.Clone(faults)}
	f.proxy = &httputil.ReverseProxy{
		// No X-Forwarded-For: the product shall see what it would see without us.
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host },
		ErrorLog: silent,
	}
	f.server = &http.Server{Handler: f, ReadHeaderTimeout: time.Minute, ErrorLog: silent}
	f.served.Go(func() { _ = f.server.Serve(l) }) // ends with Close
	return f, nil
}

// Close ends it and what is under way in it.
func (f *Front) Close() error {
	err := f.server.Close()
	f.served.Wait()
	return err
}

// Shutdown waits for requests under way and ends it.
func (f *Front) Shutdown(ctx context.Context) error {
	err := f.server.Shutdown(ctx)
	f.served.Wait()
	return err
}

// ServeHTTP writes a request down and either answers it with a fault or hands it
// on.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		cut() // the client has gone
	}
	note := &Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: body}
	fault, faulty := f.note(note)
	if faulty {
		fault.serve(w, r)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	status := &statusWriter{ResponseWriter: w}
	f.proxy.ServeHTTP(status, r)
	f.mu.Lock()
	note.Status = status.status
	f.mu.Unlock()
}

// note writes a request down and takes the fault that it meets.
func (f *Front) note(r *Request) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, r)
	if len(f.faults) == 0 || !r.CarriesCalls() {
		return Fault{}, false
	}
	fault := f.faults[0]
	f.faults = f.faults[1:]
	f.injected = append(f.injected, fault)
	r.Fault, r.Status = fault.String(), fault.Status
	return fault, true
}

// CarriesCalls reports whether it is neither a preflight nor a report of an SDK
// about itself (protocol, 4).
func (r *Request) CarriesCalls() bool {
	return r.Method == http.MethodPost && strings.TrimSuffix(r.Path, "/") != "/v1/m"
}

// Requests returns what came until now.
func (f *Front) Requests() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]Request, len(f.requests))
	for i, r := range f.requests {
		all[i] = *r
	}
	return all
}

// Injected returns the faults that requests have met.
func (f *Front) Injected() []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.injected)
}

// Left counts the faults that no request has met. Where some are left, the SDK
// was not put to the test.
func (f *Front) Left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.faults)
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
