package testkit

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Cable is a network that can be cut for good: to the brokers, who is behind it is as
// dead as after a kill.
type Cable struct {
	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

// Dial is what a client of brokers dials with.
func (c *Cable) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		return nil, errors.New("cable is cut")
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err == nil {
		c.conns = append(c.conns, conn)
	}
	return conn, err
}

// Cut ends all connections, and refuses others.
func (c *Cable) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	for _, conn := range c.conns {
		_ = conn.Close()
	}
}
