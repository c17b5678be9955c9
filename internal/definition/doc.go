// Package definition says what an audience and a computed trait are: the tree that a
// workspace file writes down, with nothing left to look up or to guess. Every leaf says
// which events it looks at, by which filters and in which window, so that what it needs
// can be told without running it.
//
// The grammar, and what its words mean, is in docs/personas.md.
package definition
