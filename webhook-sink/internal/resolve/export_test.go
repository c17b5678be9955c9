package resolve

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// NameServerOf connects to a name server that gives every name these addresses.
func NameServerOf(addrs ...string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return newNameServer(always(reply{addrs: addrs})).connect
}

// NameServerDenying connects to a name server that knows no name.
func NameServerDenying() func(ctx context.Context, network, address string) (net.Conn, error) {
	return newNameServer(always(reply{code: noSuchName})).connect
}

// NameServerFailing connects to a name server that is out of order.
func NameServerFailing() func(ctx context.Context, network, address string) (net.Conn, error) {
	return newNameServer(always(reply{code: serverFailure})).connect
}

// Watch tells of every address that passes the guard's hook in net.Dialer, and
// stops there: nothing is connected.
func Watch(d *Dialer, passed func(address string)) {
	d.connect = (&net.Dialer{ControlContext: func(ctx context.Context, network, address string, raw syscall.RawConn) error {
		if err := d.guard.Control(ctx, network, address, raw); err != nil {
			return err
		}
		passed(address)
		return errors.New("not connected")
	}}).DialContext
}
