// Package hooks calls what the user has given the client: a panic in it ends neither
// the program nor the client.
package hooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/dispatch"
	"github.com/anabranch/anabranch/analytics/internal/logging"
	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/upload"
)

// Metrics is analytics.Metrics.
type Metrics interface {
	Count(name string, delta int)
	Observe(name string, value float64)
}

// Hooks are made by [New]. Metrics may be nil, and is not changed once they are in use.
type Hooks struct {
	Log     *slog.Logger
	Metrics Metrics

	panics atomic.Uint64
}

// New returns hooks that log to a handler of the user's.
func New(to slog.Handler, metrics Metrics) *Hooks {
	h := &Hooks{Metrics: metrics}
	h.Log = slog.New(logging.Guard(to, func() { h.panics.Add(1) }))
	return h
}

// Panics is how many there have been.
func (h *Hooks) Panics() uint64 { return h.panics.Load() }

// Call calls a function of the user's; ok is false when it has panicked.
func (h *Hooks) Call(what string, f func()) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			h.panicked(what, r)
		}
	}()
	f()
	return true
}

func (h *Hooks) panicked(what string, r any) {
	h.panics.Add(1)
	h.Log.Error("recovered from a panic", "in", what, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
}

// Count adds one to a counter.
func (h *Hooks) Count(name string) {
	if h.Metrics != nil {
		h.Call("metrics", func() { h.Metrics.Count(name, 1) })
	}
}

// CountOutcome counts what a message has come to.
func (h *Hooks) CountOutcome(err error) {
	switch {
	case err == nil:
		h.Count("sent")
	case errors.Is(err, dispatch.ErrDropped):
		h.Count("dropped")
	case errors.Is(err, dispatch.ErrExpired):
		h.Count("expired")
	case errors.Is(err, dispatch.ErrUnsent):
		h.Count("unsent")
	default:
		h.Count("rejected")
	}
}

// Post makes an attempt and measures it. A transport that panics is one that has failed.
func (h *Hooks) Post(ctx context.Context, u *upload.Uploader, id string, messages []*queue.Message) (answer upload.Answer) {
	start := time.Now()
	if !h.Call("transport", func() { answer = u.Post(ctx, id, messages) }) {
		answer = upload.Answer{Verdict: upload.Again, Err: errors.New("send batch: the transport has panicked")}
	}
	if answer.Verdict == upload.Again {
		h.Count("retries")
	}
	if h.Metrics != nil {
		h.Call("metrics", func() {
			h.Metrics.Observe("request_seconds", time.Since(start).Seconds())
			h.Metrics.Observe("request_messages", float64(len(messages)))
		})
	}
	return answer
}
