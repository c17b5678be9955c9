package post

import (
	"net/http"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// ofStatus is the rule for status codes. spec.md names 5xx as worth retrying and
// is silent about the others. A receiver that says "not now" (408, 425, 429) is
// retried as well; any other 4xx will say the same tomorrow. A redirect is final:
// following it would turn the POST into an empty GET whose 200 proves nothing.
func ofStatus(status int) (Verdict, schemas.Reason) {
	switch {
	case status >= 200 && status <= 299:
		return Delivered, ""
	case status >= 300 && status <= 399:
		return Dead, schemas.ReasonStatus3xx
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests:
		return Retry, schemas.ReasonStatus4xx
	case status >= 400 && status <= 499:
		return Dead, schemas.ReasonStatus4xx
	case status >= 500 && status <= 599:
		return Retry, schemas.ReasonStatus5xx
	default:
		// 101 to a request that asked for no upgrade, or a number outside of
		// HTTP: whoever answered does not speak the protocol.
		return Retry, schemas.ReasonNetwork
	}
}

// ofResponse is the rule for responses. retryAfter is the value of that header.
func ofResponse(status int, retryAfter string, now time.Time) Result {
	verdict, reason := ofStatus(status)
	result := Result{Verdict: verdict, Reason: reason}
	switch {
	case verdict == Delivered:
		return result
	case reason == schemas.ReasonNetwork:
		result.Detail, result.Cause = detailNetwork, "not an answer to a POST: "+strconv.Itoa(status)
		return result
	case reason == schemas.ReasonStatus3xx:
		result.Detail = "endpoint answered " + strconv.Itoa(status) + "; redirects are not followed"
	default:
		result.Detail = "endpoint answered " + strconv.Itoa(status)
	}
	if verdict == Retry {
		result.RetryAfter = parseRetryAfter(retryAfter, now)
	}
	return result
}
