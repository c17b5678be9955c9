// Package resolve connects to hosts by name, within bounds that hold whatever
// the name servers and the owners of the names do.
//
// A name is looked up once at a time, however many attempts wait for it, and all
// look-ups together are bounded, so a resolver that hangs costs a fixed number of
// sockets. A look-up outlives the attempt that began it by a few seconds: behind a
// first name server that is dead the second one answers too late for that
// attempt, and in time for the next.
//
// A short memory of answers keeps the look-ups of a busy endpoint few, and bridges
// a resolver that fails. It is no part of the defence against names that change
// their answer: the guard looks at each literal address at connect(2), wherever it
// came from.
//
// Look-ups are done by the resolver of package net in Go, never by the C
// library's: that one occupies a thread for each, and takes spellings such as
// 127.1 and 0x7f000001 for addresses. To order the addresses of one answer, package
// net asks the kernel for the route to each by connecting a UDP socket, which
// sends nothing.
//
// # Non-obvious
//
//   - The resolver of package net reads to its own deadline whatever becomes of the
//     context: the socket is closed with the context
//     (TestAResolverThatHangsGivesEverythingBack).
package resolve
