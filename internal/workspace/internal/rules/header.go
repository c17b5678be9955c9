package rules

import (
	"slices"
	"strings"
)

// reserved are the header names that are not the workspace's to set, in lower
// case, below the reason.
var reserved = map[string][]string{
	"this one is set by each delivery itself": {"x-signature", "content-type", "user-agent", "host", "content-length"},
	// Go's HTTP client treats a POST with either as repeatable, and sends it again
	// by itself after some failures.
	"this one makes HTTP clients repeat requests": {"idempotency-key", "x-idempotency-key"},
	"this one belongs to the connection, not to the delivery": {
		"connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te",
		"trailer", "transfer-encoding", "upgrade", "http2-settings", "expect",
	},
}

// checkHeaderName refuses what is no RFC 9110 field name, and names that are
// not the workspace's to set.
func checkHeaderName(name string) string {
	if name == "" || len(name) > maxNameBytes || strings.ContainsFunc(name, func(r rune) bool { return !isToken(r) }) {
		return "a header name: letters, digits, and any of !#$%&'*+-.^_`|~, at most 256"
	}
	for reason, names := range reserved {
		if slices.Contains(names, strings.ToLower(name)) {
			return "another header: " + reason
		}
	}
	return ""
}

func isToken(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// reservedPattern matches the reserved names in any case: ECMAScript has no flag
// for that inside a pattern.
func reservedPattern() string {
	var names []string
	for _, some := range reserved {
		names = append(names, some...)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, r := range strings.Join(names, "|") {
		if r >= 'a' && r <= 'z' {
			b.WriteString("[" + strings.ToUpper(string(r)) + string(r) + "]")
		} else {
			b.WriteRune(r)
		}
	}
	return "^(" + b.String() + ")$"
}

// checkHeaderValue refuses every control character but the tab: one line
// break would let a value add headers of its own.
func checkHeaderValue(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return "a header value without line breaks and control characters"
	}
	return checkSecret(text)
}
