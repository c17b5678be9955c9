package post

import (
	"net/http"
	"net/textproto"
	"time"
)

// maxRetryAfter bounds what is read from a Retry-After header, so that sums with
// it can't overflow. It lies beyond every retry window; the caller caps to that.
const maxRetryAfter = 24 * time.Hour

// parseRetryAfter reads a Retry-After header, seconds or an HTTP date (RFC 9110,
// 10.2.3). What can't be read, and what is not in the future, is zero: the
// ordinary schedule.
func parseRetryAfter(value string, now time.Time) time.Duration {
	value = textproto.TrimString(value)
	if seconds, ok := parseSeconds(value); ok {
		return seconds
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}

// parseSeconds takes digits alone: strconv would let a sign through, and refuse
// what is merely long.
func parseSeconds(digits string) (time.Duration, bool) {
	var total time.Duration
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return 0, false
		}
		total = min(total*10+time.Duration(c-'0')*time.Second, maxRetryAfter)
	}
	return total, digits != ""
}
