// Package rules says what a workspace may hold. A file and a record of the topic
// are held to the same rules: what is written to the topic by other means can't
// replace a signature either.
//
// Each rule returns what it expected instead, or "" when it has no objection.
package rules

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Bounds that keep a destination's record well under the megabyte that brokers
// take by default, with all endpoints, headers and escapes at their largest.
const (
	maxNameBytes   = 256
	maxSecretBytes = 4096
	maxURLBytes    = 2048
	maxHeaders     = 20
	maxHeaderBytes = 256 // of a name
)

// What is wanted where nothing stands that a rule could object to.
const (
	WantID  = "lower-case letters, digits and hyphens, 1 to 64"
	WantURL = "an http or https URL with a host"

	wantWriteKey = "printable ASCII without spaces and colons, 1 to 256"
)

// ID is for the ids of sources and destinations, which name topics too.
func ID(id string) string {
	if !schemas.ValidID(id) {
		return WantID
	}
	return ""
}

// Type is for the type of a destination.
func Type(kind string) string {
	if kind != workspace.TypeWebhooks {
		return workspace.TypeWebhooks
	}
	return ""
}

// Name is for what people call a source or destination.
func Name(name string) string {
	if name == "" || len(name) > maxNameBytes {
		return fmt.Sprintf("1 to %d bytes", maxNameBytes)
	}
	return ""
}

// WriteKey refuses what can't be the user name of Basic authentication,
// the way in which most clients send the key.
func WriteKey(key string) string {
	if key == "" || len(key) > workspace.MaxWriteKeyBytes || strings.Contains(key, ":") || !visibleASCII(key) {
		return wantWriteKey
	}
	return ""
}

// Secret refuses bytes that are not UTF-8: they would not survive the JSON
// of the topic, and signatures would be wrong with nobody knowing why.
func Secret(secret string) string {
	if secret == "" || len(secret) > maxSecretBytes || !utf8.ValidString(secret) {
		return fmt.Sprintf("UTF-8 text of 1 to %d bytes", maxSecretBytes)
	}
	return ""
}

// URL is for an endpoint's. It asks for ASCII since the URL goes into the request line as it is.
func URL(text string) string {
	if text == "" || len(text) > maxURLBytes || !visibleASCII(text) {
		return fmt.Sprintf("%s, visible ASCII only (other characters percent-encoded, names as xn--), at most %d bytes", WantURL, maxURLBytes)
	}
	parsed, err := url.Parse(text)
	switch {
	case err != nil, parsed.Scheme != "http" && parsed.Scheme != "https", parsed.Hostname() == "":
		return WantURL
	case strings.Contains(text, "#"):
		return "a URL without a fragment"
	}
	return checkPort(parsed.Port())
}

func checkPort(port string) string {
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) {
		return "a port from 1 to 65535"
	}
	return ""
}

func visibleASCII(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] >= 0x7f {
			return false
		}
	}
	return true
}

// HeaderName refuses what is no RFC 9110 field name, and names that are
// not the workspace's to set.
func HeaderName(name string) string {
	if !isToken(name) || len(name) > maxHeaderBytes {
		return "a header name: letters, digits, and any of !#$%&'*+-.^_`|~, at most 256"
	}
	switch strings.ToLower(name) {
	case "x-signature", "content-type", "user-agent", "host", "content-length":
		return "another header: this one is set by each delivery itself"
	case "idempotency-key", "x-idempotency-key":
		// Go's HTTP client takes a POST with either for repeatable, and sends
		// it again by itself after some failures.
		return "another header: this one makes HTTP clients repeat requests"
	case "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te",
		"trailer", "transfer-encoding", "upgrade", "http2-settings", "expect":
		return "another header: this one belongs to the connection, not to the delivery"
	}
	return ""
}

func isToken(name string) bool {
	for i := range len(name) {
		c := name[i]
		alphanumeric := c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !alphanumeric && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return name != ""
}

// HeaderValue refuses every control character but the tab: one line
// break would let a value add headers of its own.
func HeaderValue(text string) string {
	for i := range len(text) {
		if text[i] < ' ' && text[i] != '\t' || text[i] == 0x7f {
			return "a header value without line breaks and control characters"
		}
	}
	return Secret(text)
}

// Endpoints is for the number of endpoints of a destination.
func Endpoints(n int) string {
	if n < 1 || n > workspace.MaxEndpoints {
		return fmt.Sprintf("1 to %d endpoints", workspace.MaxEndpoints)
	}
	return ""
}

// Headers is for the number of static headers of an endpoint.
func Headers(n int) string {
	if n > maxHeaders {
		return fmt.Sprintf("at most %d headers", maxHeaders)
	}
	return ""
}
