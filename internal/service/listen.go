package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// Listen binds a TCP address that was set by an environment variable, so that a process can claim its ports before
// it starts anything. Its errors name the variable, the value and the way out:
//
//	listen on INGEST_ADDR=127.0.0.1:8080: address already in use: another process has it; set INGEST_ADDR to move it
func Listen(ctx context.Context, variable, addr string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, fmt.Errorf("listen on %s=%s: expected host:port, such as 127.0.0.1:8080", variable, addr)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err == nil {
		return ln, nil
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listen on %s=%s: %w: another process uses it; set %s to another address", variable, addr, syscall.EADDRINUSE, variable)
	}
	// The operation's own text repeats network and address.
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return nil, fmt.Errorf("listen on %s=%s: %w; set %s to another address", variable, addr, err, variable)
}
