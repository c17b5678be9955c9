package post

import (
	"net/http"
	"net/textproto"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// ofStatus is the rule for status codes. spec.md names 5xx as worth retrying and
// is silent about the others. A receiver that says "not now" (408, 425, 429) is
// retried as well; any other 4xx will say the same tomorrow. A redirect is final:
// following it would turn the POST into an empty GET whose 200 proves nothing.
func ofStatus(status int) (outcome.Verdict, schemas.Reason) {
	switch {
	case status >= 200 && status <= 299:
		return outcome.Delivered, ""
	case status >= 300 && status <= 399:
		return outcome.Dead, schemas.ReasonStatus3xx
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests:
		return outcome.Retry, schemas.ReasonStatus4xx
	case status >= 400 && status <= 499:
		return outcome.Dead, schemas.ReasonStatus4xx
	case status >= 500 && status <= 599:
		return outcome.Retry, schemas.ReasonStatus5xx
	default:
		// 101 to a request that asked for no upgrade, or a number outside of
		// HTTP: whoever answered does not speak the protocol.
		return outcome.Retry, schemas.ReasonNetwork
	}
}

// ofResponse is the rule for responses. retryAfter is the value of that header.
func ofResponse(status int, retryAfter string, now time.Time) outcome.Outcome {
	verdict, reason := ofStatus(status)
	result := outcome.Outcome{Verdict: verdict, Reason: reason}
	switch {
	case verdict == outcome.Delivered:
		return result
	case reason == schemas.ReasonNetwork:
		result.Detail, result.Cause = detailNetwork, "not an answer to a POST: "+strconv.Itoa(status)
		return result
	case reason == schemas.ReasonStatus3xx:
		result.Detail = "endpoint answered " + strconv.Itoa(status) + "; redirects are not followed"
	default:
		result.Detail = "endpoint answered " + strconv.Itoa(status)
	}
	if verdict == outcome.Retry {
		result.RetryAfter = parseRetryAfter(retryAfter, now)
	}
	return result
}

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
