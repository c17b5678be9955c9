package testkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// Delivery is one request that a [Receiver] was sent.
type Delivery struct {
	Method string
	Path   string
	Header http.Header
	Body   []byte
	At     time.Time // when the body had arrived
}

// Signed reports whether the delivery is signed with the secret.
func (d *Delivery) Signed(secret string) bool {
	return schemas.Verify(schemas.Secret(secret), d.Body, d.Header.Get(schemas.SignatureHeader))
}

// JSON returns the body as an object and fails the test when it is none.
func (d *Delivery) JSON(tb testing.TB) map[string]any {
	tb.Helper()
	var object map[string]any
	if err := json.Unmarshal(d.Body, &object); err != nil {
		tb.Fatalf("decode delivery %q: %v", d.Body, err)
	}
	return object
}

// Receiver is a customer's webhook endpoint that writes down all it is sent. The
// zero value is an [http.Handler] to mount on a server of the test's own (TLS,
// virtual time); [NewReceiver] starts one on the loopback.
type Receiver struct {
	// URL is where the receiver listens, without a trailing slash.
	URL string

	mu         sync.Mutex
	deliveries []Delivery
	answer     http.Handler
}

// NewReceiver starts a receiver that answers 200 and ends with the test.
func NewReceiver(tb testing.TB) *Receiver {
	tb.Helper()
	r := new(Receiver)
	server := httptest.NewServer(r)
	r.URL = server.URL
	tb.Cleanup(func() {
		// Close waits for handlers; one that hangs on purpose ends when its
		// connection does.
		server.CloseClientConnections()
		server.Close()
	})
	return r
}

// Respond sets what answers from now on; nil is 200 without a body. The handler
// finds the request's body unread. To hang it waits for the request's context,
// to cut the connection it panics with [http.ErrAbortHandler].
func (r *Receiver) Respond(answer http.Handler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// ServeHTTP writes the request down and answers it. A request whose body does
// not arrive whole is no delivery.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	r.deliveries = append(r.deliveries, Delivery{
		Method: req.Method, Path: req.URL.Path, Header: req.Header.Clone(), Body: body, At: time.Now(),
	})
	answer := r.answer
	r.mu.Unlock()
	if answer != nil {
		req.Body = io.NopCloser(bytes.NewReader(body))
		answer.ServeHTTP(w, req)
	}
}

// Deliveries returns all deliveries so far in the order of their arrival.
func (r *Receiver) Deliveries() []Delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.deliveries)
}

// Wait returns all deliveries as soon as there are at least n; fewer after half
// a minute fail the test.
func (r *Receiver) Wait(tb testing.TB, n int) []Delivery {
	tb.Helper()
	Until(tb, func() bool { return len(r.Deliveries()) >= n }, fmt.Sprintf("%d deliveries", n))
	return r.Deliveries()
}

// Statuses answers with each status code in turn and repeats the last.
func Statuses(codes ...int) http.Handler {
	var calls atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		i := min(int(calls.Add(1)), len(codes)) - 1
		w.WriteHeader(codes[i])
	})
}
