// Package message has the records of personas-internal: the ticks of a partition's clock,
// and what the owners of users tell each other.
//
// # Non-obvious
//
// A tick is a record so that every transaction has one to commit: one that moves no offset
// commits although its process has been expelled from the group. It says where raw-events
// ended, since time must not pass before what came until then is processed: a backlog
// would look like silence, and end memberships.
package message
