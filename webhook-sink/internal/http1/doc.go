// Package http1 is an HTTP/1.1 client that makes POSTs and nothing else, for
// receivers that nobody vouches for.
//
// A request is one head, made once per [Endpoint], one body, and one write. The
// goroutine that calls [Client.Post] writes and reads; there is no other, but for
// bodies too large for a socket to take at once. A connection at rest costs a
// descriptor, a kilobyte (seven with TLS), and no goroutine.
//
// # Invariants
//
// One deadline, an instant, holds from the dial to the end of the response head.
// What is left of the body is read for at most 250 ms and 64 KiB more, so that the
// connection can be used again; its content is of no interest.
//
// A request goes out again by itself only if it met a connection that had been idle
// and the kernel took no byte of it: then nobody can have seen it. For TLS the bytes
// are counted below it. Everything else is an error, and the caller's to repeat.
//
// A connection is used again only if nothing can be waiting on it: the response
// ended where it said, not a byte came after it, TLS holds nothing undelivered, and
// a look at the socket just before the request finds it open and empty. So neither a
// response that comes too late nor one that was never asked for is taken for the
// answer to another request.
//
// Response heads, informational ones included, are at most 64 KiB, and at most eight
// of them are informational. What two readers could understand differently is
// malformed: two lengths, a length beside chunks, a switch of protocols.
// Package internal/response reads them.
//
// No error quotes bytes of the receiver. The body of a request is not read any more
// once Post has returned.
//
// Package internal/idle keeps connections between requests; the only mutexes are
// its own, and none is held while anything is waited for.
//
// # Non-obvious
//
//   - TLS connections are closed below TLS: a close_notify waits five seconds for a peer
//     that stopped reading (TestGivingUpATLSConnectionDoesNotWait in package post).
//   - The socket is peeked and TLS is asked for bytes that it holds back: with TLS the
//     socket looks empty when it is not (TestForgedResponsesAreNeverTaken).
package http1
