// Package kafka is the seam between the stages and a Kafka-protocol broker:
// the client options that every client shares, the topics with the policy that
// belongs to each name, and the translation between records and the
// vocabulary of package schemas.
//
// It does not wrap the client. A stage holds a *kgo.Client or a
// *kgo.GroupTransactSession of its own and passes *kgo.Record values around;
// a test puts a broker in place of the broker, not a fake in place of the
// client.
//
//	config, sasl, tls       how to reach the brokers, and to be known by them
//	await, close, leave     the ends of a client's life; replaceable, one that has several
//	advice, advising        what to do about a refusal, in errors and in the log
//	refusal                 what kind of refusal an error is
//	topicconfig, policy     what topics are created with
//	topics, create, hidden  topics that exist, and those that do not; steps, many of them
//	mismatch, check, guard  topics that differ from the settings
//	clocks                  topics that go by the clocks of those that write to them
//	lag, groups, partitions what brokers know of groups and topics
//	pending, unfinished     offsets that wait for the end of a transaction, and ending it
//	backlogs                what groups have not finished, next to what is kept for them
//	holds, witness          who holds up a partition; whether a record's transaction was committed
//	leaders                 partitions without a leader, and what waits for them
//	losses                  what a group will never read
//	positions               where groups are, where partitions end, commits that last
//	standstill              partitions that stand still with records before them
//	record, deadletter      records and headers
//
// # Non-obvious
//
//   - A client whose position retention has deleted goes on at the first record there is,
//     without a word. [Losses] tells by the start of the log, which comes with each fetch.
//     A gap between two records is none: what was aborted is left out (TestGap). A position
//     that goes back is no truncation unless the log ends before it too: a new session reads
//     again from what was committed (TestWhatIsNoLossIsNotTold).
//   - Topics of real brokers are created with LogAppendTime: Apache Kafka 4 refuses a
//     record whose time is an hour ahead, and a stage with such a clock would stand
//     still (TestAClockThatIsAheadStopsNothing). When ingest took a call is thereby when
//     the broker stored it. kfake changes the time of a batch and leaves its checksum,
//     so the embedded broker keeps the time of its clients, whose clock it shares
//     (TestOptionalSettings).
//   - Brokers that refuse a setting do not say which (TestBrokersThatLackASetting).
//   - A request for thousands of topics takes longer than it may, and then nothing says
//     which of them were created: they are created in steps (TestEnsureInSteps).
//   - Brokers may be told to keep offsets for longer than a Duration is: the embedded one
//     is (TestOffsetsKept).
//   - A broker forgets what a group has committed seven days after its last member has
//     left, but for commits that say how long they are to be kept. Only old versions of
//     the request can say it (TestALastingCommitSaysSo); Apache Kafka 4 still obeys.
//   - While a transaction is open that nobody ends, a partition looks read to its end:
//     for readers of committed records the end does not move. Only the end of the log
//     shows that there is more (TestAPartitionThatStandsIsAFault). A look that failed is
//     neither a standstill nor progress (TestSilentBrokersAreNoStandstill).
//
// Package acl below it lists what brokers have to allow.
package kafka
