package post

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/http1"
)

const (
	maxHeaderBytes = 64 << 10
	maxDrainBytes  = 64 << 10
	maxDrainTime   = 250 * time.Millisecond
	idleTime       = 30 * time.Second
	maxIdle        = 256 // over all hosts; each costs a goroutine and a descriptor

	// http2Memory is how long an endpoint is taken to speak HTTP/2 alone, before it
	// is asked again at the cost of a handshake.
	http2Memory = time.Hour
)

// noApplicationProtocol is the TLS alert of a server that speaks none of the
// protocols it was offered (RFC 7301, 3.2).
const noApplicationProtocol = tls.AlertError(120)

// errNotHTTP2 is for a server that goes on without a word about protocols.
var errNotHTTP2 = errors.New("server does not speak HTTP/2")

// refusesProtocol reports whether a server turned down the one it was offered.
func refusesProtocol(err error) bool {
	if err == nil {
		return false
	}
	var alert *net.OpError
	// The type of alerts received is not exported; its text is that of those sent.
	return errors.Is(err, errNotHTTP2) ||
		errors.As(err, &alert) && http1.IsAlert(alert) && alert.Err.Error() == noApplicationProtocol.Error()
}

// http2Client makes POSTs over HTTP/2 by net/http.
//
// Its requests have no GetBody. So net/http repeats one only if it had not begun to
// read the body, which is before it sends; what a GOAWAY or a RST_STREAM ends, the
// caller repeats. Nor can it fall back to its HTTP/1, which would log bytes that a
// receiver sends unasked.
type http2Client struct {
	transport *http.Transport
	keep      http1.Keep
}

func newHTTP2Client(dial DialFunc, policy *tls.Config, opts Options) *http2Client {
	timeout := opts.Timeout
	policy = policy.Clone()
	policy.NextProtos = []string{"h2"}
	policy.ClientSessionCache = tls.NewLRUClientSessionCache(maxIdle)
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	return &http2Client{keep: opts.Keep, transport: &http.Transport{
		Proxy:                  nil, // a proxy would resolve the name itself, out of the guard's sight
		DialTLSContext:         dialHTTP2(dial, policy, timeout),
		DisableCompression:     true,
		MaxIdleConns:           maxIdle,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxHeaderBytes,
		Protocols:              protocols,
		HTTP2: &http.HTTP2Config{
			MaxDecoderHeaderTableSize:     4 << 10,
			MaxReadFrameSize:              16 << 10,
			MaxReceiveBufferPerConnection: maxDrainBytes,
			MaxReceiveBufferPerStream:     maxDrainBytes,
			// A dead connection fails one round of requests, not all that come in
			// the minutes that TCP takes to notice.
			SendPingTimeout:  timeout / 2,
			PingTimeout:      timeout,
			WriteByteTimeout: timeout,
		},
	}}
}

// dialHTTP2 bounds the time itself, since net/http takes the deadline off the
// context it dials with.
func dialHTTP2(dial DialFunc, policy *tls.Config, timeout time.Duration) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		dialed, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		raw := &metered{Conn: dialed}
		raw.pay() // for the handshake
		conn, err := handshake(ctx, raw, policy, address)
		if err == nil && conn.ConnectionState().NegotiatedProtocol != "h2" {
			err = errNotHTTP2
		}
		if err != nil {
			_ = raw.Close()
			return nil, err
		}
		return conn, nil
	}
}

func (c *http2Client) close() { c.transport.CloseIdleConnections() }

func (c *http2Client) post(ctx context.Context, deadline time.Time, request *http.Request) (http1.Response, error) {
	// Derived from ctx, so the deadline here tells a late endpoint (ctx lives) from
	// a shutdown (ctx is done).
	timed, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	response, err := c.transport.RoundTrip(request.WithContext(httptrace.WithClientTrace(timed, payment)))
	if err != nil {
		return http1.Response{}, err
	}
	// Close on a body that was not read to its end resets the stream.
	defer func() { _ = response.Body.Close() }()
	timer := time.AfterFunc(maxDrainTime, cancel)
	defer timer.Stop()
	body := http1.Beginning(response.Body, c.keep.Body(response.StatusCode))
	_, _ = io.CopyN(io.Discard, response.Body, maxDrainBytes+1)
	answer := http1.Response{Status: response.StatusCode, RetryAfter: response.Header.Get("Retry-After"), Body: body}
	if c.keep == http1.Everything {
		answer.Head = headOf(response)
	}
	return answer, nil
}

// headOf is a head as it would be over HTTP/1.1, but for its version.
func headOf(r *http.Response) []byte {
	head := bytes.NewBufferString("HTTP/2 " + strconv.Itoa(r.StatusCode) + "\r\n")
	_ = r.Header.Write(head) // memory takes all
	return append(head.Bytes(), "\r\n"...)
}

// handshake makes the TLS handshake with the server of an address. Its errors are
// of type *http1.HandshakeError.
func handshake(ctx context.Context, raw net.Conn, policy *tls.Config, address string) (*tls.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	config := policy.Clone()
	config.ServerName = host
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, &http1.HandshakeError{Err: err}
	}
	return conn, nil
}
