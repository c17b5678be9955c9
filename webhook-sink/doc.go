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
// This package joins the engine to the brokers; its files are
//
//	stage, sink, session  what is declared of the stage, it, and one membership in the group
//	settings, client      what the process sets, and the clients made of it
//	subscribe, rebalance  topics are consumed later, partitions come and go
//	pause                 destinations to which nothing is sent
//	journal               how calls are named in the journal, and what a commit waits for
//	consume               the fetch loop
//
// The engine is in packages below. Each floor imports those under it alone, and only
// group, ends, reread, subscription and work.Producer know a Kafka client:
//
//	group           watermarks to the broker and back, and how a rebalance waits
//	ends, reread    how far unread partitions reach; what is read a second time
//	work            one record from its attempt to its end, and what is written
//	metrics         how each record ended, and what waits: series and log
//	journal         how each record ended, written down before it is committed
//	lease           nothing starts that others may have been given
//	attempt         one attempt at one destination: a POST to each of its endpoints
//	  breaker       which endpoints are down
//	  body          what is sent
//	  redact        secrets that an endpoint repeats
//	  post          one POST, its outcome, its signature
//	    http1       HTTP/1.1 on a socket
//	    resolve     look-ups of names, bounded
//	    guard       addresses that are refused
//	    proxy       the way through an HTTP proxy
//	dispatch        what waits, what is in flight, what starts next
//	  queues        what waits for each destination, and whose turn it is
//	    lanes       the order of each key
//	    pace        how fast the backlog of a destination that is back may return
//	    yield       how much of a replay live events do not feel
//	    quota       how much one destination may have beside all others
//	  parking       retries that are not due yet
//	  partition     how far a partition is, and which of its keys are set aside
//	    offsets     which of its records are finished
//	schedule        what becomes of an event: when and where it waits, when it is given up
//	subscription    which topics are consumed
//	config          what an operator may set, and what holds where nothing is set
//	outcome         the words for how an attempt, and a POST of it, ended
//
// Beside the engine, endpoints tells how endpoints fare, answers keeps what they said to
// deliveries that failed, and testsend sends one event, for a person who looks.
//
// # Readiness
//
// A sink is unready while a partition that it could read stands still for a minute with
// records before it: a transaction that nobody ends hides them
// (TestAnOpenTransactionLeavesASinkUnready). What waits for receivers is in hand, paused
// or on a retry topic, and says nothing against the sink
// (TestReceiversDoNotMakeASinkUnready).
//
// # Locks
//
// The dispatcher's mutex is the only one of the hot path. Under it the client is
// called to pause and resume, and goroutines are started; nothing is waited for.
// A commit holds its member's mutex while it waits for the broker, and takes the
// dispatcher's inside. All others are taken alone: the gate's, each breaker's while its
// endpoint fails, those of look-ups, idle connections and each logging.Sampler.
//
// # Non-obvious
//
//   - Topics of replays come to exist without a word: they are looked for among all topics
//     every few seconds, since to create one for each destination would double what the
//     group and each fetch have to name (TestATopicOfReplaysIsFound).
//   - FENCED_INSTANCE_ID is no proof of another process: behind a broker that was frozen
//     a sink's own join, sent again, takes its place. A new session is the cure; the sink
//     gives up at the third within a minute that had joined (TestAFencedSinkJoinsAgain,
//     TestASinkWithARival).
//   - Topics are created and not waited for. To wait for a leader of each would have one
//     broker that is away, or one topic that may not be created, stop the deliveries of
//     all destinations (TestATopicWithoutALeader, TestATopicThatCannotBeCreated).
//   - Retry records linger for five milliseconds: events of a destination that is down
//     fail together, and a produce request for each costs the brokers as much as a
//     delivery. No test holds this.
package webhooksink
