// Package proxy reaches endpoints by way of an HTTP proxy, with CONNECT (RFC 9110, 9.3.6): for networks whose only way out is
// one. What goes through is the same as without it, TLS from end to end included.
//
// # Non-obvious
//
//   - The proxy looks names up, out of the guard's sight: what they may resolve to is for it to judge. Addresses are judged here,
//     and what a look-up might take for an address or for the proxy's own machine is refused
//     (TestWhatTheProxyMightTakeForItselfIsRefused).
//   - What a proxy sends behind its answer would be taken for the receiver's: such a connection is not used
//     (TestAProxyThatTalksIsNotTrusted).
package proxy

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
)

// maxHeadBytes bounds what a proxy may say before the tunnel begins.
const maxHeadBytes = 16 << 10

// StatusError says that a proxy did not connect.
type StatusError struct{ Status int }

// Error returns "the proxy of WEBHOOK_SINK_PROXY answers CONNECT with 403".
func (e *StatusError) Error() string {
	return "the proxy of WEBHOOK_SINK_PROXY answers CONNECT with " + strconv.Itoa(e.Status)
}

var errTalks = errors.New("the proxy sends more than its answer")

// Dialer connects by way of one proxy. It may be used by many goroutines.
type Dialer struct {
	address string
	header  http.Header
	guard   *guard.Guard
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

// Parse reads WEBHOOK_SINK_PROXY. Its error does not quote it, which may hold a password.
func Parse(text schemas.Secret) (*url.URL, error) {
	at, err := url.Parse(text.Reveal())
	if err != nil || at.Scheme != "http" || at.Hostname() == "" || at.Port() == "" || strings.Trim(at.Path, "/") != "" || at.RawQuery != "" {
		return nil, errors.New("expected http://host:port or http://user:password@host:port")
	}
	return at, nil
}

// New returns a Dialer that goes by a URL that [Parse] has read.
func New(at *url.URL, g *guard.Guard) *Dialer {
	d := &Dialer{address: at.Host, guard: g, header: http.Header{"User-Agent": {schemas.UserAgent}}, dial: (&net.Dialer{KeepAlive: -1}).DialContext}
	if at.User != nil {
		password, _ := at.User.Password()
		d.header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(at.User.Username()+":"+password)))
	}
	return d
}

// DialContext connects to address, "host:port", as net.Dialer.DialContext does. Its errors hold a [*guard.RefusedError] for
// an address that may not be connected to, and a [*StatusError] when the proxy does not connect.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	direct, err := d.judge(address)
	if err != nil {
		return nil, err
	}
	if direct {
		return d.dial(ctx, network, address)
	}
	conn, err := d.dial(ctx, network, d.address)
	if err != nil {
		return nil, err
	}
	if err = d.tunnel(ctx, conn, address); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// judge returns why an endpoint may not be connected to, and whether it is a peer of this very process, which no proxy
// can reach.
func (d *Dialer) judge(address string) (direct bool, err error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false, err
	}
	if peer, notLiteral := netip.ParseAddrPort(address); notLiteral == nil {
		return d.guard.IsPeer(peer), d.guard.CheckPeer(peer)
	}
	if local(host) {
		return false, &guard.RefusedError{}
	}
	return false, nil
}

// local tells whether a name is one of the machine that looks it up, or a spelling of an address: 127.1, 2130706433 and
// 0x7f.1 are addresses to many a look-up, and no top-level domain begins with a digit.
func local(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last == "" || last == "localhost" || last[0] >= '0' && last[0] <= '9' || strings.ContainsAny(host, ":%")
}

// tunnel has the proxy connect to an address. It ends with ctx.
func (d *Dialer) tunnel(ctx context.Context, conn net.Conn, address string) error {
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: d.header}
	if err := request.Write(conn); err != nil {
		return err
	}
	answer := bufio.NewReader(io.LimitReader(conn, maxHeadBytes))
	response, err := http.ReadResponse(answer, request) //nolint:bodyclose // what follows the head is the tunnel
	switch {
	case err != nil:
		return err
	case response.StatusCode != http.StatusOK:
		return &StatusError{Status: response.StatusCode}
	case answer.Buffered() > 0:
		return errTalks
	case !stop():
		return ctx.Err()
	}
	return conn.SetDeadline(time.Time{})
}
