package post

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/anabranch/anabranch/internal/workspace"
)

// userAgent is the fixed product identifier (spec.md, Webhook delivery bodies).
const userAgent = "Anabranch/1.0"

// Target is an endpoint made ready for requests. It holds secrets and must not
// be printed.
type Target struct {
	url     *url.URL
	header  http.Header // never changed once made: requests in flight share it
	literal bool        // the host is an address, not a name
}

// NewTarget reads an endpoint. Its errors don't quote the URL, which may carry a
// password or a token.
func NewTarget(endpoint workspace.Endpoint) (*Target, error) {
	parsed, err := url.Parse(endpoint.URL)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return nil, errors.New("read endpoint: expected an http or https URL with a host")
	}
	_, notAddress := netip.ParseAddr(parsed.Hostname())
	return &Target{url: parsed, header: staticHeader(endpoint.Headers, parsed.User), literal: notAddress == nil}, nil
}

// staticHeader is the header of every request but for the signature. The
// workspace refuses the names that are removed here; the snapshot may have been
// written by a version that did not.
func staticHeader(static []workspace.Header, user *url.Userinfo) http.Header {
	header := make(http.Header, len(static)+4)
	for _, h := range static {
		header.Add(h.Name, h.Value.Reveal())
	}
	for _, name := range []string{"X-Signature", "Idempotency-Key", "X-Idempotency-Key"} {
		header.Del(name)
	}
	header.Set("User-Agent", userAgent)
	header.Set("Content-Type", "application/json")
	if user != nil && header.Get("Authorization") == "" {
		password, _ := user.Password()
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	return header
}

// request makes the POST of a body. signature is empty for none.
func (t *Target) request(ctx context.Context, body []byte, signature string) *http.Request {
	header := t.header
	if signature != "" {
		header = header.Clone()
		header.Set("X-Signature", signature)
	}
	reader := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	content, _ := reader() // reading memory never fails
	request := &http.Request{
		Method:        http.MethodPost,
		URL:           t.url,
		Host:          t.url.Host,
		Header:        header,
		Body:          content,
		GetBody:       reader, // see the package comment
		ContentLength: int64(len(body)),
	}
	return request.WithContext(ctx)
}
