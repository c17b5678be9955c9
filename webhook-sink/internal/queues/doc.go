// Package queues is what waits for each destination, what it may have in flight beside
// all others, and whose turn it is. It knows of a job what it is told, and starts
// nothing: the dispatcher does, whose mutex guards all of this.
//
// A destination has two backlogs. First attempts wait in the lanes of their keys, and
// their bytes count until they are finished, so nothing piles up behind a broker that
// does not write. Retries whose time has come wait in order of that, as far as the pace
// at which the destination gets its backlog back has them start soon.
//
// # Non-obvious
//
//   - A destination's due retries and its fresh events take turns for its slots, so that
//     neither backlog starves the other, even with a single slot
//     (TestBacklogsOfBothKindsTakeTurns in package dispatch).
package queues
