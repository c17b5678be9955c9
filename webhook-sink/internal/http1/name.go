package http1

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// hostOf returns the host of a URL and its port, each as a request has it: the host
// in ASCII, the port empty where the scheme's own is meant.
func hostOf(at *url.URL) (host, port string) {
	host = at.Hostname()
	if !ascii(host) {
		host = punycode(host)
	}
	return host, at.Port()
}

// punycode maps a name in another alphabet (RFC 5891). The standard library has that
// in net/http alone, which shows it to the function that dials. A name that can't be
// mapped stays what it is.
func punycode(host string) string {
	mapped := host
	asked := errors.New("not to be dialed")
	transport := &http.Transport{DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
		mapped, _, _ = net.SplitHostPort(address)
		return nil, asked
	}}
	request := &http.Request{Method: http.MethodPost, URL: &url.URL{Scheme: "http", Host: host}, Header: http.Header{}}
	if response, err := transport.RoundTrip(request); err == nil {
		_ = response.Body.Close()
	}
	return mapped
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

// joinHost is a Host header: an IPv6 address in brackets, a port if there is one.
func joinHost(host, port string) string {
	if port != "" {
		return net.JoinHostPort(host, port)
	}
	return strings.TrimSuffix(net.JoinHostPort(host, ""), ":")
}
