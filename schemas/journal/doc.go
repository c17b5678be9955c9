// Package journal is the format of the topic journal: what became of every event, as the
// stages say it where they commit. docs/journal.md has it byte by byte.
//
//	journal  what a record says: its head, calls of a router, attempts of a webhook sink
//	calls    a router's record is put together
//	attempts that of a sink
//	encode   what both are written with
//	decode   a record is read, and checked whole, before anything of it is handed out
//	iterate  what it holds, one after the other
//
// The package imports the standard library and package schemas alone.
//
// # Non-obvious
//
//   - What most entries have in common stands once in a record, and entries point at it. So
//     a routed call takes nine bytes, and an attempt fourteen (TestBytesOfAnEntry).
//   - A decoded record keeps to the bytes that it was made from: they must not change while
//     it is used.
//   - Everything is checked by Decode, so that nothing can fail while a record is walked
//     through (FuzzDecode). Numbers of things are held against the bytes that are left
//     before memory is taken for them.
package journal
