package resolve

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// dialed is how one connect ended.
type dialed struct {
	conn net.Conn
	err  error
}

// race connects to the first of the peers that can be reached: the next one
// starts when the one before has failed or used up its head start. Whatever
// connects after the race is won is closed. The error is the first failure.
func (d *Dialer) race(ctx context.Context, network string, peers []netip.AddrPort) (net.Conn, error) {
	if len(peers) == 1 {
		return d.connect(ctx, network, peers[0].String())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ends := make(chan dialed)
	var failure error
	for started, running := 0, 0; started < len(peers) || running > 0; {
		var next <-chan time.Time
		if started < len(peers) {
			go d.run(ctx, network, peers[started].String(), ends)
			started++
			running++
		}
		if started < len(peers) {
			next = time.After(headStart)
		}
		select {
		case end := <-ends:
			if end.err == nil {
				return end.conn, nil
			}
			if failure == nil {
				failure = end.err
			}
			running--
		case <-next:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, failure
}

// run makes one connect of a race. Nobody takes its end once the race is over,
// which is when ctx is done.
func (d *Dialer) run(ctx context.Context, network, address string, ends chan<- dialed) {
	conn, err := d.connect(ctx, network, address)
	select {
	case ends <- dialed{conn, err}:
	case <-ctx.Done():
		if err == nil {
			_ = conn.Close()
		}
	}
}
