package writekey

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// Basic returns the user name of a Basic Authorization header, which is
// where most SDKs put the write key. Given false means that the header has no
// say: there is none, it is of another scheme, or the user name is empty (an SDK
// whose key is in the body still sends "Basic Og=="). A header that says Basic
// and can't be read is a key that no source has, never one that is missing:
// what the sender meant is unknown, so nothing else may take its place. The colon
// behind the name may be missing: there are clients that leave it out.
func Basic(header string) (key string, given bool) {
	const scheme = "Basic "
	if len(header) < len(scheme) || !strings.EqualFold(header[:len(scheme)], scheme) {
		return "", false
	}
	credentials, err := base64.StdEncoding.DecodeString(strings.TrimSpace(header[len(scheme):]))
	if err != nil {
		return "", true
	}
	user, _, found := strings.Cut(string(credentials), ":")
	return user, user != "" || !found
}

// InQuery returns the write key of a request's query, which is where a beacon has
// to put it; empty when there is none.
func InQuery(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return r.URL.Query().Get("writeKey")
}

// Of returns the write key of a request whose Authorization header has no
// say: the body's, else the query's (protocol, 3); empty when there is none.
func Of(r *http.Request, body string) string {
	if body != "" {
		return body
	}
	return InQuery(r)
}
