package network

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Network leads from an address of its own to a broker.
type Network struct {
	listener net.Listener
	broker   func() string

	mu    sync.Mutex
	conns map[net.Conn]bool
	open  chan struct{} // closed while bytes pass
	cut   bool          // connections are refused
	ended bool
	pumps sync.WaitGroup
}

// New returns a network to the broker of that address, which is asked for at each
// connection. Close must follow.
func New(ctx context.Context, broker func() string) (*Network, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &Network{listener: listener, broker: broker, conns: make(map[net.Conn]bool), open: make(chan struct{})}
	close(n.open)
	n.pumps.Go(n.accept)
	return n, nil
}

// Addr is what its process takes for the broker.
func (n *Network) Addr() string { return n.listener.Addr().String() }

// Cut ends all connections and refuses others, until Mend.
func (n *Network) Cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = true
	n.hangUp()
}

// Silence has no byte pass in either direction, until Mend: connections stay as they are.
func (n *Network) Silence() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.silent() {
		return
	}
	n.open = make(chan struct{})
}

func (n *Network) silent() bool {
	select {
	case <-n.open:
		return false
	default:
		return true
	}
}

// Mend undoes a Cut or a Silence. What a silence held back arrives.
func (n *Network) Mend() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = false
	if n.silent() {
		close(n.open)
	}
}

// Close ends it.
func (n *Network) Close() {
	n.Mend()
	n.mu.Lock()
	n.ended = true
	n.hangUp()
	n.mu.Unlock()
	_ = n.listener.Close()
	n.pumps.Wait()
}

func (n *Network) hangUp() {
	for conn := range n.conns {
		_ = conn.Close()
	}
	clear(n.conns)
}

func (n *Network) accept() {
	for {
		client, err := n.listener.Accept()
		if err != nil {
			return
		}
		n.pumps.Go(func() { n.connect(client) })
	}
}

// connect carries one connection until either side ends it.
func (n *Network) connect(client net.Conn) {
	defer client.Close() //nolint:errcheck // it is over
	if n.pass() != nil || n.add(client) != nil {
		return
	}
	broker, err := net.Dial("tcp", n.broker()) //nolint:noctx // of this machine
	if err != nil {
		return
	}
	defer broker.Close() //nolint:errcheck // as above
	if n.add(broker) != nil {
		return
	}
	c := newConversation(n.Addr())
	n.pumps.Go(func() {
		_ = c.requests(gated{broker, n}, client)
		_ = client.Close()
		_ = broker.Close()
	})
	_ = c.responses(gated{client, n}, broker)
	n.remove(client, broker)
}

var errCut = errors.New("the network is cut")

func (n *Network) add(conn net.Conn) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut || n.ended {
		return errCut
	}
	n.conns[conn] = true
	return nil
}

func (n *Network) remove(conns ...net.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, conn := range conns {
		delete(n.conns, conn)
		_ = conn.Close()
	}
}

// pass returns when bytes may.
func (n *Network) pass() error {
	n.mu.Lock()
	open, cut := n.open, n.cut
	n.mu.Unlock()
	if cut {
		return errCut
	}
	<-open
	return nil
}

// gated is a connection to which bytes are written that the network lets pass.
type gated struct {
	net.Conn

	n *Network
}

// Write implements io.Writer.
func (g gated) Write(p []byte) (int, error) {
	if err := g.n.pass(); err != nil {
		return 0, err
	}
	return g.Conn.Write(p)
}
