package settings

import (
	"net/url"
	"strings"
	"time"
)

// RequestURL makes the URL of a request of an endpoint, which is that of the service
// (protocol, "Go library v2 names") or of the request itself (spec, "Client
// configuration fields"); ok is false when it is neither.
func RequestURL(endpoint string) (to *url.URL, ok bool) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, false
	}
	path := strings.TrimRight(u.Path, "/")
	if strings.HasSuffix(path, "/batch") || strings.HasSuffix(path, "/import") {
		return u, true
	}
	return u.JoinPath("v1", "batch"), true
}

// Count decides between the two names of one setting; below 1 there is no bound but
// most.
func Count(size, flushAt, usual, most int) int {
	if size < 1 {
		size = most
	}
	if flushAt < 1 {
		flushAt = most
	}
	return min(changed(size, flushAt, usual), most)
}

// Period decides between the two names of one setting; below 1 is the usual.
func Period(interval, flushAfter, usual time.Duration) time.Duration {
	if interval <= 0 {
		interval = usual
	}
	if flushAfter <= 0 {
		flushAfter = usual
	}
	return changed(interval, flushAfter, usual)
}

// changed returns the value that is not the usual one, the lesser if neither is.
func changed[T int | time.Duration](a, b, usual T) T {
	switch usual {
	case a:
		return b
	case b:
		return a
	}
	return min(a, b)
}

// Debug reports whether DEBUG names this package, alone or in a list.
func Debug(value string) bool {
	for _, name := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }) {
		if name == "analytics" || name == "*" {
			return true
		}
	}
	return false
}

// BatchMessages is how many messages a batch has at most, whatever has piled up. With 1
// batching is off: "each message is sent at once" (spec, "Batching rules").
func BatchMessages(flushAt, most int) int {
	if flushAt == 1 {
		return 1
	}
	return most
}
