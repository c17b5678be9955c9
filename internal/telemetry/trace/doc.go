// Package trace follows single events through the stages with OpenTelemetry: one
// trace from the call to each attempt. docs/tracing.md says what is in it.
//
// A [Tracer] that is nil is off, and a [Span] of zero value is none: all methods of
// both do nothing then, so that stages need not ask. What is not sampled is no span
// either. Whether an event is traced is decided once, where its call comes in; the
// stages behind go by the trace context in the record's headers, and a record
// without one costs them a comparison.
//
// Nothing here waits for a collector. Spans that find no room are dropped, and
// counted.
//
// # Non-obvious
//
//   - A span that is never ended never was: those of a transaction of the router end with
//     its commit (TestASpanPerCommit in the router).
//   - OpenTelemetry's batch processor drops spans without a word. A gate before it keeps
//     the count, so it never has to (TestNobodyWaitsForACollector).
package trace
