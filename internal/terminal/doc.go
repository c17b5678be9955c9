// Package terminal writes what commands show to people: rows below each other,
// times, text from elsewhere such that a terminal does not act on it, and JSON.
package terminal
