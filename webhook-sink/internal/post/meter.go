package post

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
	"sync/atomic"
)

const (
	readPerRequest = maxHeaderBytes + maxDrainBytes + 128<<10 // the rest is for TLS and frames
	maxReadAhead   = 64 * readPerRequest                      // many small responses don't buy one large flood
)

var errFlood = errors.New("more bytes than any response needs")

// metered is a connection that may be read from as far as the requests over it
// paid for. HTTP/2 lets a server send frames that belong to no request, and
// net/http reads them for as long as there are more.
type metered struct {
	net.Conn

	left atomic.Int64
}

// Read ends the connection with its first byte too many.
func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	if m.left.Add(-int64(n)) < 0 {
		_ = m.Close()
		return 0, errFlood
	}
	return n, err
}

func (m *metered) pay() {
	if m.left.Add(readPerRequest) > maxReadAhead {
		m.left.Add(-readPerRequest)
	}
}

// payment has each request pay for its connection's reads.
var payment = &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
	if conn, ok := info.Conn.(*tls.Conn); ok {
		if m, ok := conn.NetConn().(*metered); ok {
			m.pay()
		}
	}
}}
