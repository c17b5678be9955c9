// Package regulate serves deletion requests (protocol, "Deletion requests") and
// carries them out.
//
//   - request.go: a body is read, and all that is wrong with it is said at once;
//   - api.go, answer.go: POST /regulations and GET /regulations/{id}, in the shape
//     of the public API that tools for this already speak;
//   - create.go: a request is answered when the brokers have it and it is in force
//     in this process;
//   - notify.go: which events tell destinations of a user, pure;
//   - agenda.go: when this process takes a regulation up, pure;
//   - service.go, carry.go: it does.
//
// Each notification is one event on raw-events and takes the way of every event
// from there. They are written in transactions together with how far the
// regulation has come, under a transactional id that all processes share for it:
// whoever takes up what another has left, dead or only slow, goes on exactly
// where that one was.
//
// A topic refuses a batch for its size as a whole, so a refusal says nothing about
// any one notification: steps shrink until each of them travels alone, and only what
// is refused then ends the regulation as failed (TestARefusedBatch,
// TestWhatCanNeverWorkFails).
//
// Where the workspace has an audience or a computed trait, what is written is an order to
// the stage personas, which knows the sources that have seen a user
// (TestAffectedWhereUsersAreKnown).
//
// Log lines and metrics never name a user.
package regulate
