// Package definition says what an audience and a computed trait are: the tree that a
// workspace file writes down, with nothing left to look up or to guess. Every leaf says
// which events it looks at, by which filters and in which window, so that what it needs
// can be told without running it.
//
// The grammar, and what its words mean, is in docs/personas.md. Tables of members are its
// one declaration ([ReadAudience], [ReadTrait], the schema and the reference follow from
// them); a tree contains itself, which tags of a struct can't say. What definitions are
// to each other is judged by [Check], and their order by [Order].
//
// # Non-obvious
//
//   - The record of a definition is the grammar itself, in one way of writing it, so that
//     two that mean the same are the same bytes (TestEqualDefinitionsAreEqualBytes).
//   - A record with a key or a word that this release does not know is not read at all:
//     without it, it would be another definition (TestRecordsOfALaterRelease).
//   - A number is as JSON writes it, and small enough to be told from its neighbours. What
//     YAML makes of 010 or 1_000 is a surprise to somebody (TestMistakes).
package definition
