// Package emit writes what a user's destinations are told: a call on raw-events, as
// ingest writes one, which every later stage takes for any other (TestCalls).
package emit
