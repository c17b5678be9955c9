package answer

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/schemas"
)

// Codes of answers that are about the request, not about a call; the others
// are in schemas.
const (
	// CodeWriteKey is that of every answer to a key that is no good.
	CodeWriteKey    schemas.Code = "invalid_write_key"
	codeOwn         schemas.Code = "own_delivery"
	codeNotFound    schemas.Code = "not_found"
	codeMethod      schemas.Code = "method_not_allowed"
	codeCoding      schemas.Code = "unsupported_encoding"
	codeNotGzip     schemas.Code = "invalid_encoding"
	codeIncomplete  schemas.Code = "incomplete_body"
	codeTooMany     schemas.Code = "too_many_requests"
	codeUnavailable schemas.Code = "unavailable"
)

// Problem is an answer other than success. As an error it is "code: message".
type Problem struct {
	Status int // of HTTP; one of Statuses
	Code   schemas.Code
	// Message is for whoever wrote the client: it never holds a key or text of
	// the request.
	Message string
	// Rejected are the calls of a batch of which none was accepted.
	Rejected []decode.Refusal
	// RetryAfter is how long the client should wait before it sends the request
	// again, in whole seconds; 0 to say nothing of it.
	RetryAfter int
	// Cause is for the log alone; nil when there is nothing to add.
	Cause error
}

// Error returns the code and the message, not the cause.
func (p *Problem) Error() string { return string(p.Code) + ": " + p.Message }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Cause }

// Of returns the answer that an error stands for: a Problem is one, and a
// *schemas.Violation breaks a rule as a whole (400). What is neither comes from
// the way to the brokers (503).
func Of(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if v, ok := errors.AsType[*schemas.Violation](err); ok {
		return &Problem{Status: http.StatusBadRequest, Code: v.Code, Message: v.Message}
	}
	return unavailable(err)
}

// NotFound is the answer to a path that is none of the protocol's.
func NotFound() *Problem {
	return &Problem{Status: http.StatusNotFound, Code: codeNotFound, Message: "no such path: calls go to /v1/batch, /v1/import, or /v1/ with the type of one call"}
}

// OwnDelivery is the answer to a delivery of ours: a 4xx, which is final.
func OwnDelivery() *Problem {
	return &Problem{Status: http.StatusForbidden, Code: codeOwn, Message: "this is a delivery of Anabranch: an endpoint of a destination is a collection API, and its events would go around for ever"}
}

// MethodNotAllowed is the answer to anything but a POST, and an OPTIONS.
func MethodNotAllowed() *Problem {
	return &Problem{Status: http.StatusMethodNotAllowed, Code: codeMethod, Message: "calls are sent with POST"}
}

// UnknownCoding is the answer to a body that is compressed in a way that is not
// known here.
func UnknownCoding() *Problem {
	return &Problem{Status: http.StatusUnsupportedMediaType, Code: codeCoding, Message: "the body has a Content-Encoding that is not accepted: compress it once with gzip, or not at all"}
}

// NotGzip is the answer to a body that should be a gzip stream and, for the given
// cause, is none.
func NotGzip(cause error) *Problem {
	return &Problem{Status: http.StatusBadRequest, Code: codeNotGzip, Message: "the body is not a complete gzip stream, although it begins like one or its Content-Encoding says so", Cause: cause}
}

// WrongKey is one answer for every write key that is no good, byte for byte, and
// for none at all (protocol, 3). It has no WWW-Authenticate header: to that a
// browser would answer by asking the visitor of the customer's page for a
// password.
func WrongKey() *Problem {
	return &Problem{Status: http.StatusUnauthorized, Code: CodeWriteKey, Message: "the write key is missing, unknown or disabled"}
}

// NoSettings is the answer to whoever asks for the settings of such a key: an SDK
// takes 401 for a reason to come again.
func NoSettings() *Problem {
	return &Problem{Status: http.StatusNotFound, Code: CodeWriteKey, Message: "no settings: the write key is missing, unknown or disabled"}
}

// TooManyEvents is the answer to a request whose source has sent more than it
// may; after retryAfter, whole seconds, the same request is taken.
func TooManyEvents(retryAfter int) *Problem {
	return &Problem{Status: http.StatusTooManyRequests, Code: codeTooMany, RetryAfter: retryAfter, Message: "the source has sent more events than its limit allows: send the request again later"}
}

// TooManyWrongKeys takes the place of WrongKey for an address that gets it too
// often.
func TooManyWrongKeys(retryAfter int) *Problem {
	return &Problem{Status: http.StatusTooManyRequests, Code: codeTooMany, RetryAfter: retryAfter, Message: "too many requests with a wrong write key came from this address"}
}

// Incomplete is the answer to a body that did not arrive whole, for the given
// cause.
func Incomplete(cause error) *Problem {
	return &Problem{Status: http.StatusRequestTimeout, Code: codeIncomplete, Message: "the body did not arrive whole: send the request again", Cause: cause}
}

// TooLong is the answer to a body of more than limit bytes: 413 for that of a
// batch, 400 for that of one call (protocol, 7).
func TooLong(limit int, batch bool) *Problem {
	p := &Problem{Status: http.StatusBadRequest, Code: schemas.CodeTooLarge, Message: "the body is longer than " + strconv.Itoa(limit) + " bytes: "}
	if batch {
		p.Status = http.StatusRequestEntityTooLarge
		p.Message += "send fewer calls at a time"
	} else {
		p.Message += "leave large values out of the call"
	}
	return p
}

// NoneAccepted is the answer to a request of which no call was accepted, at least
// one refusal: that of the first, and in a batch all of them (protocol, 7).
func NoneAccepted(rejected []decode.Refusal, batch bool) *Problem {
	p := &Problem{Status: http.StatusBadRequest, Code: rejected[0].Code, Message: rejected[0].Message}
	if batch {
		p.Rejected = rejected
	}
	return p
}

// unavailable is the answer while calls can't be stored. Its cause is for the
// log: a client can do nothing but send again.
func unavailable(cause error) *Problem {
	return &Problem{Status: http.StatusServiceUnavailable, Code: codeUnavailable, RetryAfter: outageWait, Message: "the request was not stored: send it again", Cause: cause}
}

// outageWait is what a 503 asks for, in seconds. The refusal is cheap and an
// outage is mostly a broker's restart, so it is short.
const outageWait = 1

// Statuses are all that an answer may have, success and a preflight's included.
func Statuses() []int {
	return []int{
		http.StatusOK,
		http.StatusNoContent,
		http.StatusNotModified,
		http.StatusBadRequest,
		http.StatusUnauthorized,
		http.StatusForbidden,
		http.StatusNotFound,
		http.StatusMethodNotAllowed,
		http.StatusRequestTimeout,
		http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType,
		http.StatusTooManyRequests,
		http.StatusServiceUnavailable,
	}
}
