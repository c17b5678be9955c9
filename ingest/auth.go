package ingest

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// basicKey returns the user name of a Basic Authorization header, which is
// where most SDKs put the write key. Given false means that the header has no
// say: there is none, it is of another scheme, or the user name is empty (an SDK
// whose key is in the body still sends "Basic Og=="). A header that says Basic
// and can't be read is a key that no source has, never one that is missing:
// what the sender meant is unknown, so nothing else may take its place.
func basicKey(header string) (key string, given bool) {
	const scheme = "Basic "
	if len(header) < len(scheme) || !strings.EqualFold(header[:len(scheme)], scheme) {
		return "", false
	}
	credentials, err := base64.StdEncoding.DecodeString(strings.TrimSpace(header[len(scheme):]))
	if err != nil {
		return "", true
	}
	user, _, found := strings.Cut(string(credentials), ":")
	if !found {
		return "", true
	}
	return user, user != ""
}

// queryKey returns the write key of the query, which is where a beacon has to
// put it; empty when there is none.
func queryKey(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return r.URL.Query().Get("writeKey")
}

// writeKey returns the write key of a request whose Authorization header has no
// say and whose body was parsed: the body's, else the query's (protocol, 3).
func (d *decoder) writeKey(r *http.Request) string {
	if d.batch.writeKey != "" {
		return d.batch.writeKey
	}
	return queryKey(r)
}
