// Package terminal writes what commands show to people: rows below each other,
// times, and text from elsewhere such that a terminal does not act on it.
package terminal
