// Package webhooksink delivers the events of each destination's topic to the
// destination's endpoints, at least once, each with a stable messageId.
//
// One client, a member of one group, fetches all topics in a loop that never
// waits for a delivery. What it fetches goes to the dispatcher, which keeps a
// queue per destination and decides what starts next; workers make the attempts,
// write what failed to a retry topic or to dead-letters, and hand the record
// back as finished. Per partition a watermark follows up to where all records are
// finished, and only that is ever committed.
//
// # Rooms
//
// The engine is in packages below this one, none of which knows a Kafka client but
// group, producer and subscription; this package is what joins it to the brokers.
//
//	dispatch        what waits, what is in flight, what starts next
//	  lanes         the order of each key
//	  offsets       how far a partition is finished
//	  pace          how fast the backlog of a destination that is back may return
//	  quota         how much one destination may have beside all others
//	group           watermarks to the broker and back, and how a rebalance waits
//	producer        writes retries and dead letters
//	subscription    which topics are consumed
//	work            one record from its attempt to its end
//	account         how each record ended, and what waits: series and log
//	schedule        what becomes of an event: when and where it waits, when it is given up
//	attempt         one attempt at one destination: a POST to each of its endpoints
//	  breaker       which endpoints are down
//	  body          what is sent
//	  post          one POST, its verdict, its signature
//	    http1       HTTP/1.1 on a socket
//	    resolve     look-ups of names, bounded
//	    guard       addresses that are refused
//
// # Files
//
//	sink, session         the stage, and one membership in the group
//	config, settings      what an operator and the process may set
//	subscribe             topics that are consumed later
//	consume               the fetch loop
//	rebalance, share      partitions come and go
//	look                  how far partitions reach that are not fetched
//	write                 retry records and dead letters
//
// # Locks
//
// The dispatcher's mutex is the only one of the hot path. Under it the client is
// called to pause and resume, and goroutines are started; nothing is waited for.
// A commit holds its member's mutex while it waits for the broker, and takes the
// dispatcher's inside. The gate's mutex is taken alone. Each breaker has one of its
// own, taken alone, and only while its endpoint fails; so have the look-ups of names
// and the lists of idle connections, and each seldom.Log.
//
// # Non-obvious
//
//   - FENCED_INSTANCE_ID is no proof of another process: behind a broker that was frozen
//     a sink's own join, sent again, takes its place. A new session is the cure; the sink
//     gives up at the third within a minute that had joined (TestAFencedSinkJoinsAgain,
//     TestASinkWithARival).
//   - Topics are created and not waited for. To wait for a leader of each would have one
//     broker that is away, or one topic that may not be created, stop the deliveries of
//     all destinations (TestATopicWithoutALeader, TestATopicThatCannotBeCreated).
package webhooksink
