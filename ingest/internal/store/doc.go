// Package store keeps events on the topic raw-events, and calls that a tracking
// plan blocks on dead-letters: what Put has returned nil for is on all in-sync
// replicas, and what it has returned an error for may be put again.
//
//   - batch.go: the calls of a request as records;
//   - store.go, wait.go: all records of a batch are handed to the client and
//     waited for together;
//   - room.go: how much may wait for the brokers at a time. How much may be on the
//     topic is not known here, whoever knows is handed in;
//   - probe.go, link.go: whether the brokers answer, so that a request need not
//     wait to find out, and a new client when they have lost a topic.
//
// What a Put that failed has left in the client's buffer may still be stored
// later: events are stored at least once, and the messageId tells repetitions
// apart.
//
// # Non-obvious
//
//   - A producer that is told to forget a topic (PurgeTopicsFromProducing) numbers its
//     records from the start again under the same producer id. If the topic was not
//     recreated, brokers acknowledge them as repetitions and store nothing: a new client
//     is taken instead (TestAPartitionThatIsUnknownForAMoment,
//     TestATopicThatIsDeletedIsMadeAnew).
//   - A request's records of raw-events and dead-letters are acknowledged together before
//     the answer: were the blocked ones written afterwards, a 200 could lose them
//     (TestBothTopicsAreWaitedFor).
package store
