package webhooksink

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// wire is a sink's connection to the rest of the world, which can be cut, or freeze.
type wire struct {
	connect func(ctx context.Context, network, host string) (net.Conn, error)

	mu      sync.Mutex
	thaws   chan struct{} // closed when what has arrived may be read; nil: it may
	severed bool
	conns   []net.Conn
	calls   map[int]func() // attempts under way
	last    int
}

var errSevered = errors.New("the wire is cut")

// newWire dials as the given client does: through a virtual network or a real one.
func newWire(like *kgo.Client) *wire {
	w := &wire{connect: new(net.Dialer).DialContext, calls: make(map[int]func())}
	if dial, ok := like.OptValue(kgo.Dialer).(func(context.Context, string, string) (net.Conn, error)); ok && dial != nil {
		w.connect = dial
	}
	return w
}

// onCut has call called when the wire is cut, at once if it is, unless the
// returned function was called before.
func (w *wire) onCut(call func()) (forget func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.severed {
		call()
		return func() {}
	}
	w.last++
	id := w.last
	w.calls[id] = call
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.calls, id)
	}
}

func (w *wire) dial(ctx context.Context, network, host string) (net.Conn, error) {
	conn, err := w.connect(ctx, network, host)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.severed {
		_ = conn.Close()
		return nil, errSevered
	}
	w.conns = append(w.conns, conn)
	return frozen{conn, w}, nil
}

// frozen is a connection of which nothing is read while its wire is frozen.
type frozen struct {
	net.Conn

	wire *wire
}

func (c frozen) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.wire.mu.Lock()
	thaws := c.wire.thaws
	c.wire.mu.Unlock()
	if thaws != nil {
		<-thaws
	}
	return n, err
}

// freeze has nothing of what the brokers say arrive until thaw is called.
func (w *wire) freeze() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.thaws = make(chan struct{})
}

func (w *wire) thaw() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.thaws != nil {
		close(w.thaws)
		w.thaws = nil
	}
}

func (w *wire) sever() {
	w.thaw()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.severed = true
	for _, call := range w.calls {
		call()
	}
	for _, conn := range w.conns {
		_ = conn.Close()
	}
}
