package receiver

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// patience bounds a misbehaviour that would go on for ever: by then the sender
// should have gone long ago.
const patience = 15 * time.Second

// Hostile is a receiver that misbehaves in one way, on a port of its own.
type Hostile struct {
	kind     Misbehaviour
	listener net.Listener
	serving  sync.WaitGroup

	mu       sync.Mutex
	open     map[net.Conn]bool
	requests int
	longest  time.Duration
}

// NewHostile starts one.
func NewHostile(ctx context.Context, kind Misbehaviour) (*Hostile, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h := &Hostile{kind: kind, listener: l, open: make(map[net.Conn]bool)}
	h.serving.Go(h.accept)
	return h, nil
}

// URL is where it receives.
func (h *Hostile) URL() string { return "http://" + h.listener.Addr().String() + "/hook" }

// Kind names how it misbehaves.
func (h *Hostile) Kind() string { return h.kind.Name }

// Requests counts the attempts that reached it.
func (h *Hostile) Requests() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.requests
}

// Longest is how long the sender bore with it at most, from the first byte of a
// request to when the connection was let go or the answer was complete.
func (h *Hostile) Longest() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.longest
}

// Close ends it and its connections.
func (h *Hostile) Close() {
	_ = h.listener.Close()
	h.mu.Lock()
	for conn := range h.open {
		_ = conn.Close()
	}
	h.mu.Unlock()
	h.serving.Wait()
}

func (h *Hostile) accept() {
	for {
		conn, err := h.listener.Accept()
		if err != nil {
			return
		}
		h.mu.Lock()
		h.open[conn] = true
		h.mu.Unlock()
		h.serving.Go(func() {
			h.converse(conn)
			_ = conn.Close()
			h.mu.Lock()
			delete(h.open, conn)
			h.mu.Unlock()
		})
	}
}

// converse answers requests until the misbehaviour or the sender ends the
// connection.
func (h *Hostile) converse(conn net.Conn) {
	reader := bufio.NewReader(conn)
	for {
		if _, err := reader.Peek(1); err != nil {
			return
		}
		begun := time.Now()
		_ = conn.SetDeadline(begun.Add(patience))
		req, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		if _, err = io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		err = h.kind.answer(conn, reader, h.URL())
		h.note(time.Since(begun))
		if err != nil {
			return
		}
		_ = conn.SetDeadline(time.Time{})
	}
}

func (h *Hostile) note(took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests++
	h.longest = max(h.longest, took)
}
