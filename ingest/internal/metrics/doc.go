// Package metrics says what came of each request: counters.go counts it, refusals.go
// logs what was not accepted, notices.go logs what was accepted and still wants
// somebody's attention. It knows nothing of HTTP but the statuses of answers.
//
// Log lines say what can be done, and never hold a key, a body or text of either.
// Their number is bounded: a client in a loop must not fill the disk.
//
// # Non-obvious
//
//   - The events of a 429 or 503 are counted as throttled or unavailable alone: they come
//     again (TestWhatIsCounted).
package metrics
