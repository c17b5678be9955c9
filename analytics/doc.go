// Package analytics sends calls about users (identify, track, page, screen, group,
// alias) to a collection endpoint of the Segment protocol. A call is encoded and
// queued; batches leave in the background, and what the server did not take is
// sent again until it does, or until the client is closed and the caller's
// deadline has passed.
//
//	client := analytics.New("WRITE_KEY")
//	defer client.Close()
//	err := client.Track(&analytics.Track{
//		UserId:     "019mr8mf4r",
//		Event:      "Signed Up",
//		Properties: map[string]any{"plan": "Enterprise"},
//	})
//
// # Version 2
//
// Programs written for version 2 of the library compile when their import path is
// changed, and do what they did. [New], the fields of [Client], its methods named
// after the calls and [Client.Close] are that surface. Where version 2 has a name and the
// documentation of its time another, both are there and are one thing: Size and
// FlushAt, Interval and FlushAfter, and in a message the members MessageId and
// Timestamp, which may also be set in the embedded [Message].
//
// # Beside it
//
// [NewClient] takes options and checks them. [Client.Enqueue] has a context and
// [Client.TryEnqueue] never waits, [Client.Flush] waits until everything has been decided
// on, [Client.CloseContext] returns what was not sent, [WithBeforeEnqueue] enriches,
// redacts and drops calls, [WithCallback] tells the outcome of each message, and
// [Client.Stats] and [WithMetrics] count them. Both surfaces may be used on one client.
//
// Package analyticstest is for the tests of programs that use this one, and package
// analyticshttp for web servers.
//
// # What holds
//
// A message for which a call returned nil has exactly one [Outcome]: the server has
// taken it, or has refused it, or it was dropped from a full queue (only under
// [DropOldest]), or given up for its age (only with [WithMaxAge]), or it was not sent
// before the client was closed, and then [Client.CloseContext] returns it.
//
// A message that the server fails over holds up its own user alone: a batch that fails
// makes way for others, and is halved until that message is found.
//
// Messages of one user arrive in the order of the calls, whatever is retried on the
// way; a user is a UserId, or where there is none an AnonymousId. Messages of different
// users may overtake one another, unless [WithMaxInFlight] is 1.
//
// A message may arrive more than once when the answer to a request was lost. It has
// the same messageId each time.
//
// Maps are read during the call and never after it. Structs are never written, and ids
// are copied.
//
// The module requires no other, and works with Go 1.22 and later.
//
// # Non-obvious
//
//   - Messages have methods for encoding/json, since two of their fields may be one
//     member (TestMessagesThroughJSON). A struct that embeds one has these methods too,
//     and so is written without its own fields; give it a field of the type instead.
//   - The bubbles of testing/synctest need a client with a transport of its own: the
//     connections of the others are shared (TestSharedTransport).
package analytics
