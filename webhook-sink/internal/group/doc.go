// Package group is what the sink does in its consumer group beside what the client
// does by itself, or in place of that:
//
//   - a gate at which a rebalance waits for what a poll returned;
//   - commits of watermarks that do not wait for a join under way, with the records
//     finished beyond them as metadata, which the client neither writes nor reads;
//   - a look, when partitions come, at whether what is committed is about the topic
//     that bears the name now;
//   - a farewell that is said in the midst of a join too.
//
// A commit holds the member's mutex while it waits for the broker, and takes the
// dispatcher's inside. The gate's mutex is taken alone, and so is that of resuming.
//
// # Non-obvious
//
//   - Groups keep offsets under the names of topics. A commit that arrives late counts
//     for the topic that was made anew meanwhile, whose first records are then passed
//     over without a word. So commits name topics by id where brokers know that; a
//     topic that a commit finds missing is forgotten before anything is committed again
//     (TestWhatWasFinishedOfADeletedTopic); and each commit says in its metadata of
//     which topic it is, for whoever reads it next (TestACommitOfAnEarlierTopic,
//     TestALateCommitOfATopicThatIsGone in the sink's package).
//   - A commit beyond the end of a log may also be that of a log which lost its tail.
//     There the client asks for the end of the leader's epoch and goes on behind it; to
//     begin at the first record would deliver all that is kept once more (TestStale).
//   - Brokers may go back behind commits that they had confirmed: Apache Kafka 4.3.0 did
//     once in 33 crashes. A process that lives knows them, and goes on behind its last
//     one (TestCommitsThatTheBrokersHaveLost).
//   - CommitOffsetsSync waits for the end of a join under way, which takes until the last
//     member has come or its session has ended; meanwhile the group takes commits all the
//     same. So commits are requests of our own, with the member's generation read before
//     it is checked whether the partitions are still its (TestACommitDoesNotWaitForAJoin
//     in the sink). A farewell waits for a join too, so it is bounded and then said by
//     hand (TestLeaving).
//   - A consumer group is one record of __consumer_offsets: beyond 1 MiB, joins fail with
//     UNKNOWN_SERVER_ERROR (TestHowManyDestinationsAGroupHolds in test/storm/membership).
package group
