package workspace

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anabranch/anabranch/schemas"
)

// The rules that a file and a record of the topic are held to alike. Each
// returns what it expected instead, or "" when it has no objection.

// Bounds that keep a destination's record well under the megabyte that brokers
// take by default, with all endpoints, headers and escapes at their largest.
const (
	maxNameBytes     = 256
	maxWriteKeyBytes = 256
	maxSecretBytes   = 4096
	maxURLBytes      = 2048
	maxHeaders       = 20
	maxHeaderBytes   = 256 // of a name
)

const (
	wantID       = "lower-case letters, digits and hyphens, 1 to 64"
	wantType     = TypeWebhooks
	wantURL      = "an http or https URL with a host"
	wantWriteKey = "printable ASCII without spaces and colons, 1 to 256"
)

func checkID(id string) string {
	if !schemas.ValidID(id) {
		return wantID
	}
	return ""
}

func checkType(kind string) string {
	if kind != TypeWebhooks {
		return wantType
	}
	return ""
}

func checkName(name string) string {
	if name == "" || len(name) > maxNameBytes {
		return fmt.Sprintf("1 to %d bytes", maxNameBytes)
	}
	return ""
}

// checkWriteKey refuses what can't be the user name of Basic authentication,
// the way in which most clients send the key.
func checkWriteKey(key string) string {
	if key == "" || len(key) > maxWriteKeyBytes || strings.Contains(key, ":") || !visibleASCII(key) {
		return wantWriteKey
	}
	return ""
}

// checkSecret refuses bytes that are not UTF-8: they would not survive the JSON
// of the topic, and signatures would be wrong with nobody knowing why.
func checkSecret(secret string) string {
	if secret == "" || len(secret) > maxSecretBytes || !utf8.ValidString(secret) {
		return fmt.Sprintf("UTF-8 text of 1 to %d bytes", maxSecretBytes)
	}
	return ""
}

// checkURL asks for ASCII since the URL goes into the request line as it is.
func checkURL(text string) string {
	if text == "" || len(text) > maxURLBytes || !visibleASCII(text) {
		return fmt.Sprintf("%s, visible ASCII only (other characters percent-encoded, names as xn--), at most %d bytes", wantURL, maxURLBytes)
	}
	parsed, err := url.Parse(text)
	switch {
	case err != nil, parsed.Scheme != "http" && parsed.Scheme != "https", parsed.Hostname() == "":
		return wantURL
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

// checkHeaderName refuses what is no RFC 9110 field name, and names that are
// not the workspace's to set.
func checkHeaderName(name string) string {
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

// checkHeaderValue refuses every control character but the tab: one line
// break would let a value add headers of its own.
func checkHeaderValue(text string) string {
	for i := range len(text) {
		if text[i] < ' ' && text[i] != '\t' || text[i] == 0x7f {
			return "a header value without line breaks and control characters"
		}
	}
	return checkSecret(text)
}

func checkEndpoints(n int) string {
	if n < 1 || n > MaxEndpoints {
		return fmt.Sprintf("1 to %d endpoints", MaxEndpoints)
	}
	return ""
}

func checkHeaders(n int) string {
	if n > maxHeaders {
		return fmt.Sprintf("at most %d headers", maxHeaders)
	}
	return ""
}
