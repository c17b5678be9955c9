// Package judge compares what the webhooks got with what an SDK was given: every
// call once, with exactly its fields.
package judge
