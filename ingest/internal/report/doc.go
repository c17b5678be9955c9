// Package report says what came of each request: metrics.go counts it, refusals.go
// logs what was not accepted, notices.go logs what was accepted and still wants
// somebody's attention. It knows nothing of HTTP but the statuses of answers.
//
// Log lines say what can be done, and never hold a key, a body or text of either.
// Their number is bounded: a client in a loop must not fill the disk.
package report
