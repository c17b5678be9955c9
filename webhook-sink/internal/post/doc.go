// Package post makes one POST to one endpoint and says how it ended.
//
// It never follows a redirect, never asks a proxy, never decompresses, and never
// repeats a request of which a single byte may have left the machine: trying
// again is for the caller, who keeps count. The status line alone decides the
// verdict; what comes after it is read within narrow limits, so that the
// connection can be used again, and then forgotten.
//
// # Why net/http does not repeat a POST here
//
// Transport sends a request again when it fails on a reused connection and
// either nothing of it was written, or it counts as replayable. A POST is
// replayable only with an Idempotency-Key header (any spelling of
// X-Idempotency-Key too), which [NewTarget] takes away. The first case stays
// wanted: a receiver that closed an idle connection has not seen the request,
// and without GetBody every such close would cost the event a trip through a
// retry topic, behind younger events of its user. "Nothing written" is counted
// in bytes the kernel took (persistConn.nwrite), after the writing goroutine has
// ended, so there is no race in it. Each such repeat uses up one idle
// connection, and a fresh one is never retried, so it ends.
package post
