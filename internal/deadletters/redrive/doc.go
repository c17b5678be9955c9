// Package redrive sends dead letters to their destinations once more, and to
// raw-events what never had one: calls that a tracking plan had blocked, past the
// plan, and events that the router of an earlier release could not read.
//
// A redriven event is a fresh one: same key, value, source, type and messageId,
// origin replay, and nothing of the attempts that it failed in, so it gets a retry
// window of its own.
//
// Each batch is one transaction of the events and of their marks in
// dead-letters-redriven. Whatever ends a run between two batches or within one,
// kill -9 included, an event that was sent is marked and one that was not is not:
// the same command goes on where the last one ended. All runs share one
// transactional id, so a run ends the transaction of one that died, and of two
// runs at once the older one is fenced before it can send what the younger one
// sends.
//
// A batch that a topic refuses for its size is halved until the culprit is alone.
// Brokers have two errors for that, and a run that knew one of them would end at the
// other with an error that names no event (TestARecordListThatIsTooLarge).
//
//	plan, verdict    what would be done with each dead letter, without effects
//	batch            how large a batch may be
//	producer         one batch, one transaction
//	run              all of it in its order
//	report           what people read
//
// # Non-obvious
//
//   - The marks of redriven letters are read after the producer id was asked for: before
//     that a predecessor's commit may still be under way (TestAPredecessorIsFenced in
//     package txn).
//   - The client notes the context in a record that it is given, so what a halved batch
//     writes again is copies: the old, cancelled context would fail them
//     (TestLargeEvents).
package redrive
