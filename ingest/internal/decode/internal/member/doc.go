// Package member reads and changes the members of calls, as stable JSON: ids and
// maps are made even (value.go), the maps of a batch are merged into those of its
// calls (shared.go), and what the server adds is put into their context
// (context.go). No tree of values is built: text is put together with text.
package member
