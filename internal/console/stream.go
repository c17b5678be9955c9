package console

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/anabranch/anabranch/internal/console/internal/tail"
	"github.com/anabranch/anabranch/internal/terminal"
)

// livePath is where the calls that come are streamed, as server-sent events.
const livePath = Path + "/live/calls"

const (
	// liveEvery is how often a stream is written.
	liveEvery = 250 * time.Millisecond
	// liveAlive is how long nothing is written at most: proxies close what is silent.
	liveAlive = 15 * time.Second
	// livePatience is how long a browser may take to read what is written.
	livePatience = 10 * time.Second
)

// follow streams calls to whoever may look, until they leave, or may no longer.
func (c *Console) follow(w http.ResponseWriter, r *http.Request) {
	who, in := c.door.Visitor(r)
	if !in {
		http.Error(w, "log in first", http.StatusUnauthorized)
		return
	}
	v := &visit{Request: r, who: who, now: time.Now()}
	wanted, err := v.wanted()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	t, err := c.tails.Join(r.Context(), wanted)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer c.tails.Leave(t)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy that collects what it passes on would hold it back
	s := &stream{Console: c, to: w, control: http.NewResponseController(w), since: terminal.Moment(v.now)}
	// The server's bound on reading a request would end this one, whose client says no more.
	if err = s.control.SetReadDeadline(time.Time{}); err == nil {
		err = s.run(r, t)
		_ = s.control.SetWriteDeadline(time.Time{}) // that of the last write is none of the next request; where it fails, there is none
	}
	if err != nil {
		c.Logger.Debug("console: a tail has ended", "person", who.Name, "reason", err)
	}
}

// stream is an answer that goes on.
type stream struct {
	*Console

	to      http.ResponseWriter
	control *http.ResponseController
	since   string
	counts  countsView
	wrote   time.Time
}

// run writes what is new until the person leaves or may no longer look, or the tail is over.
func (s *stream) run(r *http.Request, t *tail.Tail) error {
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	for {
		if _, in := s.door.Visitor(r); !in {
			return s.write(time.Now(), event(nil, "over", nil))
		}
		news := t.Take()
		if err := s.tell(&news, time.Now()); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-t.Over():
			return nil // the browser comes back when there is a process
		case <-r.Context().Done():
			return context.Cause(r.Context())
		}
	}
}

// tell writes what is new.
func (s *stream) tell(news *tail.News, now time.Time) error {
	var text []byte
	if len(news.Calls) > 0 {
		var rows bytes.Buffer
		for _, call := range newestFirst(news.Calls) {
			rows.Write(call.Drawn(s.drawCall))
		}
		text = event(text, "calls", rows.Bytes())
	}
	if counts := countsOf(s.since, news); counts != s.counts {
		drawn, err := draw("live.html", "counts", counts)
		if err != nil {
			return err
		}
		s.counts = counts
		text = event(text, "counts", drawn)
	}
	switch {
	case text != nil:
	case now.Sub(s.wrote) >= liveAlive:
		text = []byte(":\n\n")
	default:
		return nil
	}
	return s.write(now, text)
}

func (s *stream) write(now time.Time, text []byte) error {
	s.wrote = now
	if err := s.control.SetWriteDeadline(now.Add(livePatience)); err != nil {
		return err
	}
	if _, err := s.to.Write(text); err != nil {
		return err
	}
	return s.control.Flush()
}

// event appends a server-sent event.
func event(to []byte, name string, data []byte) []byte {
	to = append(append(to, "event: "...), name...)
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		to = append(append(to, "\ndata: "...), line...)
	}
	return append(to, "\n\n"...)
}
