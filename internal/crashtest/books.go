package main

import (
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"sync"
)

// books count how often each message id was seen.
type books struct {
	mu   sync.Mutex
	seen map[string]int
}

func newBooks() *books { return &books{seen: make(map[string]int)} }

func (b *books) note(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen[id]++
}

func (b *books) ids() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make(map[string]int, len(b.seen))
	maps.Copy(out, b.seen)
	return out
}

// missing returns the ids of b that none of the others has seen.
func (b *books) missing(others ...*books) []string {
	var lost []string
next:
	for id := range b.ids() {
		for _, o := range others {
			o.mu.Lock()
			n := o.seen[id]
			o.mu.Unlock()
			if n > 0 {
				continue next
			}
		}
		lost = append(lost, id)
	}
	return lost
}

// doubled counts the sightings beyond the first of each id.
func (b *books) doubled() int {
	extra := 0
	for _, n := range b.ids() {
		extra += n - 1
	}
	return extra
}

// receive serves a webhook receiver that writes down what it is sent.
func (b *books) receive() (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // lives as long as the program
	if err != nil {
		return "", nil, err
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			MessageID string `json:"messageId"`
		}
		text, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(text, &body) != nil || body.MessageID == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		b.note(body.MessageID)
	})
	server := &http.Server{Handler: handler} //nolint:gosec // speaks to our own sink alone
	go func() { _ = server.Serve(l) }()
	return "http://" + l.Addr().String() + "/hook", func() { _ = server.Close() }, nil
}
