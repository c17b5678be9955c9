package ingest

import (
	"net/http"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/ingest/internal/limit"
	"github.com/anabranch/anabranch/ingest/internal/metrics"
	"github.com/anabranch/anabranch/ingest/internal/writekey"
)

// greet judges the key in the head of a request, and reports whether there is a
// good one. It notes the source when the header says it; a key in the query yields
// to the body's. Who has none in the head, and came with too many wrong ones of
// late, is refused before the body is read.
func (h *handler) greet(r *http.Request, o *metrics.Outcome) (known bool, err error) {
	if key, given := writekey.Basic(r.Header.Get("Authorization")); given {
		return true, h.authenticate(key, o)
	}
	if h.isGood(writekey.InQuery(r)) {
		return true, nil
	}
	if wait, ok := h.badKeys.Look(o.Client, h.now()); !ok {
		return false, answer.TooManyWrongKeys(limit.Seconds(wait))
	}
	return false, nil
}

// isGood reports whether a key is that of an enabled source.
func (h *handler) isGood(key string) bool {
	_, ok := h.workspace.Load().SourceByKey(key)
	return ok && key != ""
}

// authenticate notes the source that a write key belongs to. Unknown and
// disabled keys are one case, in answer and in time (see SourceByKey), and so is
// none at all. A good key in the head is never refused for the wrong ones that came
// from the same address: a whole office, or a mobile network, may share it.
func (h *handler) authenticate(key string, o *metrics.Outcome) error {
	found, ok := h.workspace.Load().SourceByKey(key)
	if ok && key != "" {
		o.Source = found.ID
		return nil
	}
	if wait, ok := h.badKeys.Failed(o.Client, h.now()); !ok {
		return answer.TooManyWrongKeys(limit.Seconds(wait))
	}
	return answer.WrongKey()
}
