package post

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/http1"
)

// Target is an endpoint made ready for requests. It keeps the connections to it, so
// it belongs to the first Client that it is used with. It holds secrets and must
// not be printed.
type Target struct {
	endpoint *http1.Endpoint
	url      *url.URL
	header   http.Header  // never changed once made: requests in flight share it
	literal  bool         // the host is an address, not a name
	http2    atomic.Int64 // until when it is taken to speak HTTP/2 alone; Unix nanoseconds
}

var errTarget = errors.New("read endpoint: expected an http or https URL with a host")

// NewTarget reads an endpoint. Its errors don't quote the URL, which may carry a
// password or a token.
func NewTarget(endpoint workspace.Endpoint) (*Target, error) {
	parsed, err := url.Parse(endpoint.URL)
	if err != nil || parsed.Hostname() == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return nil, errTarget
	}
	header := staticHeader(endpoint.Headers, parsed.User)
	at, err := http1.NewEndpoint(parsed, header)
	if err != nil {
		return nil, errTarget
	}
	_, notAddress := netip.ParseAddr(parsed.Hostname())
	return &Target{endpoint: at, url: parsed, header: header, literal: notAddress == nil}, nil
}

// Address is where the endpoint is: the part of its URL that holds no secret.
func (t *Target) Address() (host string, port int) {
	port, err := strconv.Atoi(t.url.Port())
	switch {
	case err == nil:
	case t.url.Scheme == "https":
		port = 443
	default:
		port = 80
	}
	return t.url.Hostname(), port
}

// Head returns the head of a request as it is sent over HTTP/1.1, secrets among it.
func (t *Target) Head(body []byte, signature string) []byte { return t.endpoint.Head(body, signature) }

func (t *Target) https() bool { return t.url.Scheme == "https" }

// staticHeader is the header of every request but for the signature. The
// workspace refuses the names that are removed here; the snapshot may have been
// written by a version that did not.
func staticHeader(static []workspace.Header, user *url.Userinfo) http.Header {
	header := make(http.Header, len(static)+4)
	for _, h := range static {
		header.Add(h.Name, h.Value.Reveal())
	}
	// net/http sends a POST with an idempotency key again by itself.
	for _, name := range []string{"X-Signature", "Idempotency-Key", "X-Idempotency-Key"} {
		header.Del(name)
	}
	header.Set("User-Agent", schemas.UserAgent)
	header.Set("Content-Type", "application/json")
	if user != nil && header.Get("Authorization") == "" {
		password, _ := user.Password()
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	return header
}

func (t *Target) onlyHTTP2() bool {
	until := t.http2.Load()
	return until != 0 && time.Now().UnixNano() < until
}

// setOnlyHTTP2 remembers for how long; the zero time for no longer.
func (t *Target) setOnlyHTTP2(until time.Time) {
	if until.IsZero() {
		t.http2.Store(0)
		return
	}
	t.http2.Store(until.UnixNano())
}

// request makes the POST of a body for net/http. signature is empty for none. The
// body is copied: net/http may read it after the response has come.
func (t *Target) request(body []byte, signature string) *http.Request {
	header := t.header
	if signature != "" {
		header = header.Clone()
		header.Set("X-Signature", signature)
	}
	return &http.Request{
		Method:        http.MethodPost,
		URL:           t.url,
		Host:          t.url.Host,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(bytes.Clone(body))),
		ContentLength: int64(len(body)),
	}
}
