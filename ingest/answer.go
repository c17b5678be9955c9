package ingest

import (
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// Codes of answers that are about the request, not about a call; the others
// are in schemas.
const (
	codeWriteKey    schemas.Code = "invalid_write_key"
	codeNotFound    schemas.Code = "not_found"
	codeMethod      schemas.Code = "method_not_allowed"
	codeEncoding    schemas.Code = "unsupported_encoding"
	codeIncomplete  schemas.Code = "incomplete_body"
	codeUnavailable schemas.Code = "unavailable"
)

// retryAfter is what a 503 asks for, in whole seconds. The refusal is cheap and
// an outage is mostly a broker's restart, so it is short.
const retryAfter = "1"

// problem is an answer other than success. Its message is for whoever wrote
// the client: it never holds a key or text of the request.
type problem struct {
	status  int
	code    schemas.Code
	message string
	// rejected are the calls of a batch of which none was accepted.
	rejected []refusal
	// cause is for the log alone.
	cause error
}

func (p *problem) Error() string { return string(p.code) + ": " + p.message }

func (p *problem) Unwrap() error { return p.cause }

// refusal says why one call of a request was not accepted.
type refusal struct {
	index     int
	messageID string // the client's, cut; empty when it gave none
	schemas.Violation
}

// invalid is the answer to a request that breaks a rule as a whole.
func invalid(code schemas.Code, message string) error {
	return &problem{status: http.StatusBadRequest, code: code, message: message}
}

func errNotFound() error {
	return &problem{status: http.StatusNotFound, code: codeNotFound, message: "no such path: calls go to /v1/batch, /v1/import, or /v1/ with the type of one call"}
}

func errMethod() error {
	return &problem{status: http.StatusMethodNotAllowed, code: codeMethod, message: "calls are sent with POST"}
}

func errEncoding() error {
	return &problem{status: http.StatusUnsupportedMediaType, code: codeEncoding, message: "the body has a Content-Encoding that is not accepted: send it as it is (identity)"}
}

// errWriteKey is one answer for every key that is no good, byte for byte, and
// for none at all. It has no WWW-Authenticate header: to that a browser would
// answer by asking the visitor of the customer's page for a password.
func errWriteKey() error {
	return &problem{status: http.StatusUnauthorized, code: codeWriteKey, message: "the write key is missing, unknown or disabled"}
}

// errBody is what went wrong while reading a body of at most limit bytes.
func errBody(e endpoint, err error) error {
	message := "the body is longer than " + strconv.Itoa(e.limit) + " bytes"
	switch {
	case !errors.Is(err, errBodyTooLong):
		return &problem{status: http.StatusRequestTimeout, code: codeIncomplete, message: "the body did not arrive whole: send the request again", cause: err}
	case e.batch():
		return &problem{status: http.StatusRequestEntityTooLarge, code: schemas.CodeTooLarge, message: message}
	default:
		return invalid(schemas.CodeTooLarge, message)
	}
}

// errSyntax is the answer to a body that is not one JSON text.
func errSyntax(err error) error {
	if errors.Is(err, stablejson.ErrTooDeep) {
		return invalid(schemas.CodeTooLarge, err.Error())
	}
	return invalid(schemas.CodeInvalidJSON, "the body is not JSON: "+err.Error())
}

// errTooMuch is the answer to a batch whose calls grow beyond measure by what
// is merged into each of them.
func errTooMuch() error {
	return invalid(schemas.CodeTooLarge, "with its context in each event the batch is longer than "+strconv.Itoa(maxRequestBytes)+" bytes: send it in parts")
}

// unavailable is the answer while calls can't be stored. Its cause is for the
// log: a client can do nothing but send again.
func unavailable(cause error) *problem {
	return &problem{status: http.StatusServiceUnavailable, code: codeUnavailable, message: "the request was not stored: send it again", cause: cause}
}

// errRefused is the answer to a request none of whose calls was accepted: that
// of the first refusal, and in a batch all of them.
func errRefused(e endpoint, rejected []refusal) error {
	p := &problem{status: http.StatusBadRequest, code: rejected[0].Code, message: rejected[0].Message}
	if e.batch() {
		p.rejected = rejected
	}
	return p
}

// success is all that an SDK may be told when all went well (protocol, 1).
const success = `{"success":true}`

// writeAnswer answers with p, or when that is nil with success and the calls
// that were refused alone.
func writeAnswer(w http.ResponseWriter, p *problem, rejected []refusal) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	if p == nil && len(rejected) == 0 {
		_, _ = io.WriteString(w, success)
		return
	}
	if p == nil {
		_, _ = w.Write(appendSuccess(nil, rejected))
		return
	}
	switch p.status {
	case http.StatusMethodNotAllowed:
		header.Set("Allow", http.MethodPost)
	case http.StatusUnsupportedMediaType:
		header.Set("Accept-Encoding", "identity")
	case http.StatusServiceUnavailable:
		header.Set("Retry-After", retryAfter)
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(appendProblem(nil, p))
}

// appendSuccess appends success with the refusals inside.
func appendSuccess(dst []byte, rejected []refusal) []byte {
	dst = append(dst, success[:len(success)-len("}")]...)
	return append(appendRejected(dst, rejected), '}')
}

// appendProblem appends an error body. All four members have to be there: some
// SDKs retry an answer that lacks one (protocol, 1).
func appendProblem(dst []byte, p *problem) []byte {
	dst = append(dst, `{"success":false,"code":`...)
	dst = stablejson.AppendString(dst, string(p.code))
	dst = append(dst, `,"message":`...)
	dst = stablejson.AppendString(dst, p.message)
	dst = append(dst, `,"error":`...)
	dst = stablejson.AppendString(dst, p.message)
	return append(appendRejected(dst, p.rejected), '}')
}

func appendRejected(dst []byte, rejected []refusal) []byte {
	for i, r := range rejected {
		if i == 0 {
			dst = append(dst, `,"rejected":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"index":`...)
		dst = strconv.AppendInt(dst, int64(r.index), 10)
		dst = append(dst, `,"messageId":`...)
		dst = stablejson.AppendString(dst, r.messageID)
		dst = append(dst, `,"code":`...)
		dst = stablejson.AppendString(dst, string(r.Code))
		dst = append(dst, `,"message":`...)
		dst = stablejson.AppendString(dst, r.Message)
		dst = append(dst, '}')
	}
	if len(rejected) > 0 {
		dst = append(dst, ']')
	}
	return dst
}
