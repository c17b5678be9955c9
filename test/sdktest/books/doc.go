// Package books is a webhook receiver that keeps the body of each delivery and
// checks its signature as a customer would (spec.md, Signing of webhook
// deliveries).
package books
