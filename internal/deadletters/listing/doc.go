// Package listing shows dead letters: a table or a line of JSON for each, and a
// single one with its event. What came from callers is shown such that a terminal
// does not act on it.
package listing
