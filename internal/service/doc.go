// Package service runs the parts of a process: it starts them in order, watches them, and stops them in reverse.
//
// A part is a [Service]. Parts that others build on stand in an earlier tier: a broker before the stages that
// connect to it. [Run] is the only place where parts are started and waited for, so every goroutine of the process
// has one owner, and the order of a shutdown can be read off the order of the tiers.
//
// # Non-obvious
//
//   - At the limit of connections the newest is not the one to be closed while any other
//     is 200 ms late with its head: attackers that reconnect at once would keep everyone
//     else out (TestTheNewcomerIsNotTheFirstToGo).
//   - A wrapped net.Conn must keep CloseWrite: net/http uses it to let a client read an
//     early 413 before the connection goes (TestAGuestCanBeHalfClosed).
//   - http.Server appends to the NextProtos of the tls.Config that it is given, so it
//     gets a clone, and so must clients in tests that share one. No test holds this.
//   - HTTP2Config.StrictMaxConcurrentRequests hung a client of Go 1.26.8 with 300
//     requests waiting on one connection; the cause was not found. No test holds this.
package service
