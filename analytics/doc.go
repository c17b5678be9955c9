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
// [NewClient] takes options and checks them. [Client.Enqueue] has a context,
// [Client.Flush] waits until everything has been decided on, [Client.CloseContext]
// returns what was not sent, [WithCallback] tells the outcome of each message and
// [Client.Stats] counts them. Both surfaces may be used on one client.
//
// # What holds
//
// A message for which a call returned nil has exactly one [Outcome]: the server has
// taken it, or has refused it, or it was dropped from a full queue (only under
// [DropOldest]), or it was not sent before the client was closed, and then
// [Client.CloseContext] returns it.
//
// Messages of one user arrive in the order of the calls, whatever is retried on the
// way; a user is a UserId, or where there is none an AnonymousId. Messages of different
// users may overtake one another, unless [WithMaxInFlight] is 1.
//
// A message may arrive more than once when the answer to a request was lost. It has
// the same messageId each time.
//
// Maps are read during the call and never after it. Structs are never written.
//
// The package imports the standard library alone.
package analytics
