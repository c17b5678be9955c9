package http1

import (
	"bytes"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/anabranch/anabranch/webhook-sink/internal/http1/internal/idle"
)

// Endpoint is where POSTs go: an address, the head of every request to it, and the
// connections that are idle between two. It belongs to the first Client that it is
// used with, and holds secrets, so it must not be printed. Once nobody uses it, its
// connections go after their idle time, and with them the last reference to it.
type Endpoint struct {
	address string // of the host, with a port
	name    string // of the server, in its certificate
	https   bool
	head    []byte // all of it but the lines that differ and the empty one

	once   sync.Once
	config *tls.Config // made with the first connection

	idle idle.List[*conn]
}

var errUnusable = errors.New("endpoint can't be written as a request")

// NewEndpoint makes the head of requests from an http or https URL with a host and
// the header that all of them have. Its only error quotes neither.
//
// The head is written by net/http, so escapes and the framing fields of a request
// come out as they do there. A header that tries to be more than one line is refused.
func NewEndpoint(at *url.URL, header http.Header) (*Endpoint, error) {
	for _, values := range header {
		for _, value := range values {
			if strings.ContainsFunc(value, control) {
				return nil, errUnusable
			}
		}
	}
	host, port := hostOf(at)
	var wire bytes.Buffer
	request := &http.Request{Method: http.MethodPost, URL: at, Host: joinHost(host, port), Header: header}
	if err := request.Write(&wire); err != nil {
		return nil, errUnusable
	}
	const noLength = "\r\nContent-Length: 0\r\n"
	before, after, found := bytes.Cut(wire.Bytes(), []byte(noLength))
	if !found {
		return nil, errUnusable
	}
	switch {
	case port != "":
	case at.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return &Endpoint{
		address: net.JoinHostPort(host, port),
		name:    host,
		https:   at.Scheme == "https",
		head:    append(append(bytes.Clone(before), "\r\n"...), bytes.TrimSuffix(after, []byte("\r\n"))...),
	}, nil
}

// control reports characters that no field may hold (RFC 9110, 5.5).
func control(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// Head returns the head of a request as it is sent, secrets among it.
func (e *Endpoint) Head(body []byte, signature string) []byte {
	whole := e.appendRequest(nil, body, signature)
	return whole[:len(whole)-len(body)]
}

// appendRequest appends a whole request.
func (e *Endpoint) appendRequest(to, body []byte, signature string) []byte {
	to = append(to, e.head...)
	if signature != "" {
		to = append(to, "X-Signature: "...)
		to = append(to, signature...)
		to = append(to, "\r\n"...)
	}
	to = append(to, "Content-Length: "...)
	to = strconv.AppendInt(to, int64(len(body)), 10)
	to = append(to, "\r\n\r\n"...)
	return append(to, body...)
}

// tlsConfig is the policy of the client for this server. The cache of sessions is
// keyed by server name alone; an endpoint has its own so that no other's trust or
// state comes in by it.
func (e *Endpoint) tlsConfig(policy *tls.Config) *tls.Config {
	e.once.Do(func() {
		e.config = policy.Clone()
		e.config.ServerName = e.name
		e.config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	})
	return e.config
}
