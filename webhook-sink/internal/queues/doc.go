// Package queues is what waits for each destination, what it may have in flight beside
// all others, and whose turn it is. It knows of a job what it is told, and starts
// nothing: the dispatcher does, whose mutex guards all of this.
//
// A destination has two backlogs. First attempts wait in the lanes of their keys, and
// their bytes count until they are finished, so nothing piles up behind a broker that
// does not write. Retries whose time has come wait in order of that, as far as the pace
// at which the destination gets its backlog back has them start soon.
//
// What replays send waits in a queue of its own, behind both. All destinations stand in one
// line for slots, and their replays in another that is looked at when the first has no use
// for one; so a replay takes no slot that a live event could have, of any destination.
//
// A destination that is held starts nothing, and keeps in memory what was fetched by then.
//
// # Non-obvious
//
//   - A destination's due retries and its fresh events take turns for its slots, so that
//     neither backlog starves the other, even with a single slot
//     (TestBacklogsOfBothKindsTakeTurns in package dispatch).
//   - Keys of replays are not set aside: while a destination is down its replay rests for as
//     long, and what was set aside would be read again and again meanwhile, with no room for
//     it (TestDispatcherKeepsItsPromises in package dispatch did not end). Nor are those of a
//     destination that is held, for the same reason.
package queues
