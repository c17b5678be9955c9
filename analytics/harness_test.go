//go:build go1.26

package analytics_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
)

// server is a collection endpoint that writes down what it is sent. Its answer is
// 200 unless the test has set another.
type server struct {
	*httptest.Server

	mu       sync.Mutex
	requests []request
	answer   http.HandlerFunc
	conns    map[net.Conn]bool // that are open
}

// request is what the server was sent at a time.
type request struct {
	path   string
	header http.Header
	body   map[string]any
	raw    []byte
	batch  []map[string]any
}

func newServer() *server {
	s := &server{conns: map[net.Conn]bool{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if state == http.StateClosed {
			delete(s.conns, conn)
		} else {
			s.conns[conn] = true
		}
	}
	s.Start()
	return s
}

// connections is how many are open.
func (s *server) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := readBody(r)
	if err != nil {
		return
	}
	got := request{path: r.URL.Path, header: r.Header.Clone(), raw: raw}
	if err := json.Unmarshal(raw, &got.body); err != nil {
		panic(fmt.Sprintf("a body that is no JSON: %v\n%s", err, raw))
	}
	list, _ := got.body["batch"].([]any)
	for _, m := range list {
		got.batch = append(got.batch, m.(map[string]any))
	}
	s.mu.Lock()
	s.requests = append(s.requests, got)
	answer := s.answer
	s.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	_, _ = io.WriteString(w, `{"success":true}`)
}

// readBody returns a body as it was before it was compressed.
func readBody(r *http.Request) ([]byte, error) {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(r.Body)
	}
	plain, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(plain)
}

// respond sets the answer to every further request; nil is success.
func (s *server) respond(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// got returns the requests so far.
func (s *server) got() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// messages returns the messages of all requests so far, in the order of arrival.
func (s *server) messages() []map[string]any {
	var all []map[string]any
	for _, r := range s.got() {
		all = append(all, r.batch...)
	}
	return all
}

// print writes the messages without what differs each time: the form in which
// examples check them.
func (s *server) print() {
	for _, m := range s.messages() {
		for _, own := range []string{"messageId", "timestamp"} {
			if _, ok := m[own].(string); !ok {
				fmt.Println("without", own)
			}
			delete(m, own)
		}
		text, _ := json.Marshal(m)
		fmt.Println(string(text))
	}
}

// sizes returns how many messages each request had.
func (s *server) sizes() []int {
	var sizes []int
	for _, r := range s.got() {
		sizes = append(sizes, len(r.batch))
	}
	return sizes
}
