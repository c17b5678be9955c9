// Package digest keeps sets of calls that were seen ([seen.Set]) where they outlive a
// disk: on a topic of digests beside the one that the calls are on, and restores them.
//
//	digest   a record of the topic: what was seen between two offsets; of a call
//	writer   writes them once transactions have committed
//	restore  brings a set up to an offset: from its files, digests and the calls themselves
//
// # Non-obvious
//
//   - Digests are written after the commit and outside of it. What is missing of them is
//     read from the calls, and what is there twice is the same, since it was derived from
//     the same offsets (TestRestore).
//   - A set that is ahead of where processing goes on is of no use: what comes again has
//     not been processed. So is one that ends before the horizon begins, for what lies
//     between is not worth reading.
//   - Files that are found damaged while a set is restored are removed with it, or each try
//     would find them again (TestAPowerCut).
//   - The horizon ends at the time of the last call that was processed, not now: a router
//     that comes back after days compares its backlog with what was before it.
//   - Under the topic's id, which nobody who makes calls can see, the key of fingerprints
//     is the same in every process without being kept anywhere, and another one for a topic
//     that was made anew. Brokers that know no ids (Redpanda) leave a key that all know:
//     what could be done with it takes the messageId that somebody else's call will have,
//     and whoever knows that need not look for a collision.
package digest
