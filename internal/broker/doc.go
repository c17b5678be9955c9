// Package broker is the embedded broker: one Kafka-protocol node inside the process, with its log on disk.
//
// It is kfake, the in-process broker of the Kafka client's own test suite, used as a broker for one machine. Kafka
// clients, this process's stages first among them, reach it over TCP on a loopback address. What it lacks for
// that use is added here: a lock on the data directory, retention, a listener that outlasts a shortage of
// file descriptors, and the repair of what a kill leaves behind. Nothing above this package knows that it is not Kafka.
//
// # What is durable
//
// An acknowledged record has been written to its segment file, but not synced. A kill -9 of the process loses
// none, since the page cache belongs to the kernel; a power failure or a crash of the machine may lose the last
// seconds, as on a Kafka broker without replicas. Committed offsets are as durable as records. After a clean stop
// everything is as it was, except for what a failing machine takes with it before the kernel has written it out.
//
// A transaction that was open at a kill is ended when the log is loaded, so it holds nobody back: it is committed where that was
// under way, and else aborted, and its producer is fenced. One that was open at a clean stop is restored, since its
// producer may live in another process and return; if it does not, the transaction's timeout aborts it. A kill in the
// microseconds in which a commit is written may leave it without the offsets of its group: what was consumed is then
// consumed again, and its records are doubled, never lost. That happened to 2 transactions in 350 kills of a
// router at about 1,000 records a second.
//
// Group instance ids should stay the same from boot to boot: after a clean stop a member with a known instance id has its
// partitions after 3 ms, while one with a new id waits until the session of the old one has run out (8 s with a timeout of 8 s).
//
// # What is deleted
//
// Whole segments that are older or more than their topic may hold, and of topics with readers only what each of their
// groups has committed. The bound in bytes used to ignore the latter: an import with a dozen destinations outran the
// router, and half of 76,785 accepted calls were deleted before they were routed. So was what a receiver that hung had not
// been sent within a day.
//
//   - A group that has committed nothing of a topic has read nothing of it: a router that has never run would otherwise
//     find its events deleted at its first start (TestNothingAcceptedIsDeletedUnread in internal/app).
//   - Offsets beyond the end are those of an earlier topic of the same name, and say nothing about this one
//     (TestOffsetsOfAnotherTopicReadNothing).
//   - What may not be deleted has to be bounded where it comes in: [Broker.Full] (TestTheIntakeRefusesAtItsLimit). The
//     topics behind the router have no such bound, or one destination could stop the calls of all.
//
// # What is aborted
//
// A response that reaches the limit of its request lacks the list of the aborted transactions of the partition at which
// it stopped, and whoever reads committed records alone takes theirs for committed: destinations would receive what the
// router has taken back, and then receive it again. So no response reaches its limit: its room is divided among the
// partitions of the request beforehand (TestAFullResponseTellsWhatWasAborted).
//
// # Who may use it
//
// Whoever has the password, which is in a file of the data directory (package datadir), and that is its user's alone: the log holds the
// secrets of destinations and the events of people, and every user of the machine can reach a loopback address. What comes in
// is checked before kfake sees it (package gate); FuzzRequests sends it anything.
//
//   - kfake's PLAIN lets in any unknown user with an empty password, so there is SCRAM alone
//     (TestOnlyWhoKnowsThePasswordGetsIn).
//   - It does not offer the first version of a SASL handshake, without which kcat and other clients of librdkafka
//     do not begin the second (TestLibrdkafkaMayAuthenticate).
//   - It notes its users in a file, which it prefers to those that it is given: a log from before the password would let nobody
//     in, and a new password would not be in force (TestALogFromBeforeThePassword, TestThePasswordStays).
//
// # What it costs
//
// Opening reads the whole log. After a clean stop that takes 0.6 s for each gigabyte, and memory that is free again
// soon; after a kill it takes 3 s and as much memory as there is log. So bound the log, with retention.bytes and
// retention.ms of its topics. While it runs, about 70 bytes of memory stay in use for each record batch in the log,
// and a file descriptor for each segment that was ever read.
//
// # Non-obvious
//
//   - kfake's own retention empties an idle partition, which then begins again at offset
//     0, below the groups' commits. Ours deletes whole segments and never the last one
//     (TestRetentionKeepsOffsets).
//   - kfake does not cut off a torn last entry of its state logs, and whatever is
//     appended behind it is lost at the next kill (TestTornOffsetDoesNotHideLaterOnes). A
//     batch without its index entry is shown to readers that should not see it
//     (TestBatchWithoutIndexEntryIsNotCommitted). A snapshot with an open transaction
//     keeps the last stable offset where it is (TestDropStaleSnapshot). All three are
//     repaired as the broker opens.
//   - kfake aborts what was open at a kill in memory alone. The next commit of the same
//     transactional id was taken for that of what was aborted, after another kill: 100 events of
//     a replay were sent twice in 50 kills, and those of an import or a redrive would have
//     been. So the markers are written as the broker opens (TestAnAbortOutlivesTheNextKill).
//   - It writes the markers of a commit one after the other, and a kill between two left the
//     rest aborted: a mark that an event was sent, without the event. The rest is committed
//     too (TestACommitIsFinished).
//   - Compaction is not safe against a crash, so nothing is ever compacted
//     (TestNothingIsEverCompacted): the topic `workspace` is kept whole, and its readers
//     take the last record of each key (TestEmbeddedKeepsStateWhole in package policy).
//   - That a kill in the midst of a commit doubles records on a few partitions at most,
//     and loses none, was measured. No test holds this.
package broker
