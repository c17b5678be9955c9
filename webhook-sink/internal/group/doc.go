// Package group is what the sink does in its consumer group beside what the client
// does by itself, or in place of that:
//
//   - a gate at which a rebalance waits for what a poll returned;
//   - commits of watermarks that do not wait for a join under way, with the records
//     finished beyond them as metadata, which the client neither writes nor reads;
//   - a look, when partitions come, at whether what is committed is about the topic
//     that bears the name now;
//   - a lease, without which nothing starts that others may have been given;
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
//   - Timers of a process that was frozen fire before its next heartbeat is answered, and
//     the client hears that it is no member any more a moment after it has read the
//     answer. So once a lease has run out, only an answer of the group that was asked for
//     it renews it (TestALeaseThatHasRunOut, TestASinkThatHearsNothingOfItsGroup).
package group
