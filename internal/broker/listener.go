package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/anabranch/anabranch/internal/broker/internal/gate"
)

// acceptPause is the longest pause after an accept that failed.
const acceptPause = time.Second

// listen binds the address of the broker. What comes in there is checked before kfake sees it.
func listen(addr string, log *slog.Logger) (net.Listener, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(context.Background(), "tcp", addr)
	if err == nil {
		return gate.New(&patientListener{Listener: ln, closed: make(chan struct{})}, log), nil
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listen on BROKER_ADDR=%s: %w: another process uses it; set BROKER_ADDR to another address", addr, syscall.EADDRINUSE)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // the operation's own text repeats network and address
	}
	return nil, fmt.Errorf("listen on BROKER_ADDR=%s: %w; set BROKER_ADDR to another address", addr, err)
}

// patientListener tries again when an accept fails. kfake stops listening for good at the first failure, so that a
// moment without free file descriptors would leave a broker that runs and can't be reached.
type patientListener struct {
	net.Listener

	closing sync.Once
	closed  chan struct{}
}

// Accept returns an error only when the listener is closed.
func (l *patientListener) Accept() (net.Conn, error) {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, acceptPause) {
		conn, err := l.Listener.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) {
			return conn, err
		}
		select {
		case <-time.After(pause):
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
}

// Close ends a pause too. kfake closes a listener twice: when the cluster closes, and when its loop ends.
func (l *patientListener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return l.Listener.Close()
}
