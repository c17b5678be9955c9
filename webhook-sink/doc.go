// Package webhooksink delivers the events of each destination's topic to the
// destination's endpoints, at least once, each with a stable messageId.
//
// One client, a member of one group, fetches all topics in a loop that never
// waits for a delivery. What it fetches goes to the [dispatcher], which keeps a
// queue per destination and decides what starts next; workers make the attempts,
// write what failed to a retry topic or to dead-letters, and hand the record
// back as finished. Per partition a watermark follows up to where all records are
// finished, and only that is ever committed.
//
//	poll -> queue of the destination -> lane of the key -> worker -> attempt
//	                                                          |-> delivered
//	poll -> heap by due time -> slot? -> worker -> attempt ---|-> webhook-retry.*
//	                              no -> put back              |-> dead-letters
//
// # Files
//
//	sink, session         the stage, and one membership in the group
//	subscribe             which topics are consumed
//	consume, gate         the fetch loop, and how a rebalance waits for it
//	group, assignment     partitions come and go
//	watermark             how far a partition is finished
//	commit, resume        the same to the broker, and back
//	dispatch, queue       first attempts, their slots and shares
//	partition             one assigned partition
//	park, dueheap         retries until they are due
//	work, settle          one record from attempt to acknowledgement
//	fate, schedule        what is decided, without effects
//	attempt, outcome      one attempt at one destination
//
// # Locks
//
// The dispatcher's mutex is the only one of the hot path. Under it the client is
// called to pause and resume, and goroutines are started; nothing is waited for.
// A commit holds the session's committing mutex while it waits for the broker,
// and takes the dispatcher's inside. The gate's mutex is taken alone.
package webhooksink
