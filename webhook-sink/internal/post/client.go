package post

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"time"

	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
	"github.com/anabranch/anabranch/webhook-sink/internal/http1"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/proxy"
	"github.com/anabranch/anabranch/webhook-sink/internal/resolve"
)

// DialFunc makes a connection, as net.Dialer.DialContext does.
type DialFunc = http1.DialFunc

// Options are what a Client is made of.
type Options struct {
	Timeout time.Duration  // from dial to response headers
	Idle    int            // connections kept per endpoint while idle; the number of requests that one sees at a time
	Guard   *guard.Guard   // decides which addresses may be connected to
	Roots   *x509.CertPool // nil: the system's
	Proxy   *url.URL       // reaches all of them, by CONNECT; nil: none
	HTTPS   bool           // nothing goes to http endpoints
	Keep    http1.Keep     // what of answers is kept
	Dial    DialFunc       // nil: the network, through Guard. Tests put a virtual network here, where Guard does not look
}

// Client makes POSTs. It may be used by many goroutines.
type Client struct {
	http1    *http1.Client
	http2    *http2Client
	resolver *resolve.Dialer // nil with a dial function of the caller's
	timeout  time.Duration
	https    bool // nothing goes to http endpoints
}

// NewClient returns a Client that dials when there is something to send.
func NewClient(opts Options) *Client {
	c := &Client{timeout: opts.Timeout, https: opts.HTTPS}
	dial := opts.Dial
	switch {
	case dial != nil:
	case opts.Proxy != nil:
		dial = proxy.New(opts.Proxy, opts.Guard).DialContext
	default:
		c.resolver = resolve.NewDialer(resolve.Options{Guard: opts.Guard})
		dial = c.resolver.DialContext
	}
	policy := tlsConfig(opts.Roots)
	c.http1 = http1.New(http1.Options{Dial: dial, TLS: policy, Idle: opts.Idle, Keep: opts.Keep})
	c.http2 = newHTTP2Client(dial, policy, opts)
	return c
}

// tlsConfig is the policy of all connections.
func tlsConfig(roots *x509.CertPool) *tls.Config {
	return &tls.Config{
		RootCAs:          roots,
		MinVersion:       tls.VersionTLS12,
		NextProtos:       []string{"http/1.1"},
		VerifyConnection: refuseSelfSigned,
		// Without the post-quantum hybrid that leads by default a resumed
		// handshake costs 290 µs instead of 450.
		CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521},
		// Small first records make a first byte early on slow downlinks; a request
		// is of use to its receiver when it is whole.
		DynamicRecordSizingDisabled: true,
	}
}

// Close closes the idle connections. Requests in flight go on, unless they have yet
// to look up a name.
func (c *Client) Close() {
	c.http1.Close()
	c.http2.close()
	if c.resolver != nil {
		c.resolver.Close()
	}
}

// Post sends body to the target and returns how that ended, within the timeout
// and the time to drain. A ctx that is done means our own shutdown: no request is
// started, one that runs is cut short, and the verdict is [Abandoned] unless the
// response was faster.
//
// Nobody reads body any more once Post has returned. It is cheapest when many calls
// get one and the same ctx.
func (c *Client) Post(ctx context.Context, target *Target, body []byte, signature string) outcome.Outcome {
	if ctx.Err() != nil {
		return outcome.Outcome{Verdict: outcome.Abandoned}
	}
	if c.https && !target.https() {
		return outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonNotHTTPS, Detail: detailNotHTTPS, Cause: "WEBHOOK_SINK_HTTPS_ONLY is set"}
	}
	response, err := c.send(ctx, time.Now().Add(c.timeout), target, body, signature)
	switch {
	case err == nil:
		trace.Answered(ctx, response.Status)
		result := ofResponse(response.Status, response.RetryAfter, time.Now())
		if response.Head != nil || response.Body != nil {
			result.Answer = &outcome.Answer{Status: response.Status, Head: response.Head, Body: response.Body}
		}
		return result
	case ctx.Err() != nil:
		return outcome.Outcome{Verdict: outcome.Abandoned}
	default:
		return ofError(err, target.literal)
	}
}

// send takes the way that the target understands.
func (c *Client) send(ctx context.Context, deadline time.Time, target *Target, body []byte, signature string) (http1.Response, error) {
	if !target.onlyHTTP2() {
		response, err := c.http1.Post(ctx, deadline, target.endpoint, body, signature)
		if !refusesProtocol(err) {
			return response, err
		}
		target.setOnlyHTTP2(time.Now().Add(http2Memory))
	}
	response, err := c.http2.post(ctx, deadline, target.request(body, signature))
	if refusesProtocol(err) {
		target.setOnlyHTTP2(time.Time{})
	}
	return response, err
}
