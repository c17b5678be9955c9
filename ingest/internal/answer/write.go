package answer

import (
	"io"
	"net/http"
	"strconv"

	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/internal/stablejson"
)

// success is all that an SDK may be told when all went well (protocol, 1).
const success = `{"success":true}`

// Write answers with p, or when that is nil with success and the calls that were
// refused alone. What goes wrong on the way to the client is not reported: the
// client sends again.
func Write(w http.ResponseWriter, p *Problem, rejected []decode.Refusal) {
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
	switch p.Status {
	case http.StatusMethodNotAllowed:
		header.Set("Allow", "OPTIONS, POST")
	case http.StatusUnsupportedMediaType:
		header.Set("Accept-Encoding", "gzip, identity")
	}
	if p.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(appendProblem(nil, p))
}

// appendSuccess appends success with the refusals inside.
func appendSuccess(dst []byte, rejected []decode.Refusal) []byte {
	dst = append(dst, success[:len(success)-len("}")]...)
	return append(appendRejected(dst, rejected), '}')
}

// appendProblem appends an error body. All four members have to be there: some
// SDKs retry an answer that lacks one (protocol, 1).
func appendProblem(dst []byte, p *Problem) []byte {
	dst = append(dst, `{"success":false,"code":`...)
	dst = stablejson.AppendString(dst, string(p.Code))
	dst = append(dst, `,"message":`...)
	dst = stablejson.AppendString(dst, p.Message)
	dst = append(dst, `,"error":`...)
	dst = stablejson.AppendString(dst, p.Message)
	return append(appendRejected(dst, p.Rejected), '}')
}

func appendRejected(dst []byte, rejected []decode.Refusal) []byte {
	for i, r := range rejected {
		if i == 0 {
			dst = append(dst, `,"rejected":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"index":`...)
		dst = strconv.AppendInt(dst, int64(r.Index), 10)
		dst = append(dst, `,"messageId":`...)
		dst = stablejson.AppendString(dst, r.MessageID)
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
