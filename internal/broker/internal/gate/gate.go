package gate

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/time/rate"
)

// patience is how long a client may take to authenticate.
const patience = 10 * time.Second

// proofs is how many messages of a client SCRAM takes.
const proofs = 2

// New returns a listener whose connections are checked. Authentication has to be SCRAM, as kfake's is set to.
func New(inner net.Listener, log *slog.Logger) net.Listener {
	return &listener{Listener: inner, log: log, seldom: rate.Sometimes{First: 3, Interval: 10 * time.Second}}
}

type listener struct {
	net.Listener

	log    *slog.Logger
	seldom rate.Sometimes // anybody on the machine could fill the log
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	inner.SetReadDeadline(time.Now().Add(patience)) //nolint:errcheck // one that is closed already fails at the first read
	return &conn{Conn: inner, refused: l.refused}, nil
}

func (l *listener) refused(peer net.Addr, reason error) {
	l.seldom.Do(func() {
		l.log.Warn("embedded broker closed a connection; clients need the password, which is in a file of DATA_DIR", "peer", peer.String(), "error", reason)
	})
}

// A conn hands on requests that were checked. It is read by one goroutine and written to by another.
type conn struct {
	net.Conn

	refused func(net.Addr, error)

	// Of the reading side: what was read ahead of kfake, and what of the request is still to come.
	ahead []byte
	left  int64

	mu            sync.Mutex
	asked         []kmsg.Key // requests of a stranger that are not answered
	proved        int        // messages of an authentication that were answered
	authenticated bool
}

// Read implements [net.Conn].
func (c *conn) Read(p []byte) (int, error) {
	if len(c.ahead) == 0 && c.left == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	if len(c.ahead) > 0 {
		n := copy(p, c.ahead)
		c.ahead = c.ahead[n:]
		return n, nil
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// next reads as much of the next request as it takes to check it.
func (c *conn) next() error {
	var begin [headBytes]byte
	if _, err := io.ReadFull(c.Conn, begin[:4]); err != nil {
		return err
	}
	known := c.known()
	if err := parseHead(begin).checkSize(known); err != nil {
		return c.refuse(err)
	}
	if _, err := io.ReadFull(c.Conn, begin[4:]); err != nil {
		return err
	}
	h := parseHead(begin)
	if err := h.checkKind(known); err != nil {
		return c.refuse(err)
	}
	c.ahead, c.left = begin[:], int64(h.size)-(headBytes-4)
	if known {
		return nil
	}
	c.ahead, c.left = append(c.ahead, make([]byte, c.left)...), 0
	if _, err := io.ReadFull(c.Conn, c.ahead[headBytes:]); err != nil {
		return err
	}
	if err := h.checkStranger(c.ahead[4:]); err != nil {
		return c.refuse(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, kmsg.Key(h.key))
	return nil
}

func (c *conn) known() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.authenticated
}

func (c *conn) refuse(reason error) error {
	c.refused(c.RemoteAddr(), reason)
	return errors.Join(reason, c.Close())
}

// Write implements [net.Conn]. kfake writes each answer at once, in the order of the requests.
func (c *conn) Write(p []byte) (int, error) {
	c.answered()
	return c.Conn.Write(p)
}

// answered notes that the oldest request has an answer. The last one of an authentication opens the gate, before the
// client can know of it.
func (c *conn) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.authenticated || len(c.asked) == 0 {
		return
	}
	if c.asked[0] == kmsg.SASLAuthenticate {
		c.proved++
	}
	c.asked = c.asked[1:]
	if c.proved == proofs {
		c.authenticated, c.asked = true, nil
		c.SetReadDeadline(time.Time{}) //nolint:errcheck // one that is closed already fails at the next read
	}
}
