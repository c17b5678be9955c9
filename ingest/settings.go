package ingest

import (
	"net/http"
	"time"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/ingest/internal/limit"
	"github.com/anabranch/anabranch/ingest/internal/metrics"
	"github.com/anabranch/anabranch/ingest/internal/sdksettings"
	"github.com/anabranch/anabranch/ingest/internal/writekey"
)

// serveSettings answers an SDK that asks for its settings.
func (h *handler) serveSettings(w http.ResponseWriter, r *http.Request, of sdksettings.Family, key string) {
	o := metrics.Outcome{Client: h.addresses.Of(r), Read: time.Now()}
	text, err := h.settings(r, of, key, &o)
	if err != nil {
		o.Problem = answer.Of(err)
	}
	o.Unchanged = err == nil && answer.Unchanged(r, text)
	h.metrics.Request(r.Context(), h.now(), &o)
	if err != nil {
		answer.Write(w, o.Problem, nil)
	} else {
		answer.WriteSettings(w, text, o.Unchanged)
	}
	h.metrics.Answered(&o)
}

// settings returns those of the source that a key belongs to. Keys are public
// there, and as many wrong ones are answered as for calls.
func (h *handler) settings(r *http.Request, of sdksettings.Family, key string, o *metrics.Outcome) ([]byte, error) {
	if of == sdksettings.Rudder {
		var given bool
		if key, given = writekey.Basic(r.Header.Get("Authorization")); !given {
			key = writekey.InQuery(r)
		}
	}
	found, ok := h.workspace.Load().SourceByKey(key)
	if !ok || key == "" {
		if wait, ok := h.badKeys.Failed(o.Client, h.now()); !ok {
			return nil, answer.TooManyWrongKeys(limit.Seconds(wait))
		}
		return nil, answer.NoSettings()
	}
	o.Source = found.ID
	if of == sdksettings.Rudder {
		return sdksettings.ForRudder(key, found.ID), nil
	}
	host := h.publicHost
	if host == "" {
		host = r.Host
	}
	return sdksettings.ForSegment(key, host), nil
}
