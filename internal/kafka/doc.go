// Package kafka is the seam between the stages and a Kafka-protocol broker: the
// options and the life of every client, and the translation between records and the
// vocabulary of package schemas.
//
// It does not wrap the client. A stage holds a *kgo.Client or a
// *kgo.GroupTransactSession of its own and passes *kgo.Record values around;
// a test puts a broker in place of the broker, not a fake in place of the
// client.
//
//	config, sasl, tls       how to reach the brokers, and to be known by them
//	await, leave            the ends of a client's life; replaceable, one that has several
//	advice, advising        what to do about a refusal, in errors and in the log
//	refusal, rival          what kind of refusal an error is; a name that another process has too
//	record, deadletter      records and headers
//	positions, leaders      where groups are, where partitions end, and which have no leader
//
// Below it, each with one idea:
//
//	policy  what topics are created with, and where existing ones differ: no broker needed
//	topics  creating, listing and checking topics
//	groups  how far groups are, what they will never read, where they stand still
//	ranges  what partitions hold for readers of committed records
//	txn     writing in transactions; a runner that reads and writes in them
//	acl     what brokers have to allow each stage
//
// # Non-obvious
//
//   - A first produce to a topic waits for the next metadata request, and a transaction
//     waits with it: MetadataMinAge is 250 ms instead of the library's five seconds. No
//     test holds this.
//   - The library's Close asks for leave from the group until the broker answers, which
//     one that is gone never does: [Close] bounds it. A static member it never takes out
//     of its group: [Leave] does, by member id, since the instance id may be a
//     successor's by then (TestLeaveIsNoticedAtOnce, TestLeaveSparesASuccessor).
//   - Ping retries, and then reports the end of its context instead of the cause: [Await]
//     uses a client without retries (TestAwaitNamesTheBrokerThatIsNotThereYet).
//   - Client metrics are off: their last push delays every stop. No test holds this.
//   - An alert of TLS that the other side sends has no type of its own: it is a
//     *net.OpError whose Op is "remote error" (TestAnExpiredCertificateIsSaid). kfake
//     hangs up on a wrong password; Kafka answers SASL_AUTHENTICATION_FAILED
//     (TestAwaitSaysWhatToDoAboutCredentials).
package kafka
