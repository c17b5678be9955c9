package post

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
)

const (
	maxHeaderBytes = 64 << 10 // of a response, informational ones before it included
	maxDrainBytes  = 64 << 10
	maxDrainTime   = 250 * time.Millisecond
	idleTime       = 30 * time.Second
	maxIdle        = 2048 // over all hosts; each costs a descriptor and some 30 KB
)

// Options are the settings of a Client.
type Options struct {
	Timeout time.Duration  // from dial to response headers
	Idle    int            // connections kept per host while idle; the number of requests that one host sees at a time
	Guard   *guard.Guard   // decides which addresses may be connected to
	Roots   *x509.CertPool // nil: the system's
	Dial    DialFunc       // nil: the network, through Guard. Tests put a virtual network here, where Guard does not look
}

// Client makes POSTs. It may be used by many goroutines.
type Client struct {
	transport *http.Transport
	timeout   time.Duration
}

// NewClient returns a Client that dials when there is something to send.
func NewClient(opts Options) *Client {
	if opts.Dial == nil {
		opts.Dial = (&net.Dialer{Timeout: opts.Timeout, ControlContext: opts.Guard.Control}).DialContext
	}
	dial := &dialer{dial: opts.Dial, tls: tlsConfig(opts.Roots), timeout: opts.Timeout}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &Client{
		timeout: opts.Timeout,
		transport: &http.Transport{
			Proxy:                  nil, // a proxy would resolve the name itself, out of the guard's sight
			DialContext:            dial.plain,
			DialTLSContext:         dial.encrypted,
			DisableCompression:     true,
			MaxIdleConns:           maxIdle,
			MaxIdleConnsPerHost:    opts.Idle,
			IdleConnTimeout:        idleTime,
			MaxResponseHeaderBytes: maxHeaderBytes,
			Protocols:              protocols,
		},
	}
}

// Close closes the idle connections. Requests in flight go on.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Post sends body to the target and returns how that ended, within the timeout
// and the time to drain. A ctx that is done means our own shutdown: no request is
// started, one that runs is cut short, and the verdict is [Abandoned] unless the
// response was faster.
//
// body must stay unchanged for good: net/http may read it after Post has returned.
func (c *Client) Post(ctx context.Context, target *Target, body []byte, signature string) Result {
	if ctx.Err() != nil {
		return Result{Verdict: Abandoned}
	}
	// Derived from ctx, so the deadline here tells a late endpoint (ctx lives) from
	// a shutdown (ctx is done).
	timed, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	response, err := c.transport.RoundTrip(target.request(timed, body, signature))
	if err != nil {
		if ctx.Err() != nil {
			return Result{Verdict: Abandoned}
		}
		return ofError(err, target.literal)
	}
	// Close on a body that was not read to its end closes the connection.
	defer func() { _ = response.Body.Close() }()
	drain(response, cancel)
	return ofResponse(response.StatusCode, response.Header, time.Now())
}

// drain reads what is left of the response, so that its connection can be used
// again, or leaves it unread where that would take long. The verdict was in the
// status line, so whatever happens here is forgotten.
func drain(response *http.Response, cancel context.CancelFunc) {
	if response.StatusCode == http.StatusSwitchingProtocols {
		return // the body is the bare connection, which no context interrupts
	}
	timer := time.AfterFunc(maxDrainTime, cancel)
	defer timer.Stop()
	// One byte more than the limit, so that a body of just the limit meets its end.
	_, _ = io.CopyN(io.Discard, response.Body, maxDrainBytes+1)
}
