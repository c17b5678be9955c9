// Package policy says what each topic of ours is created with, by its name and by the
// settings, and where a topic that exists differs from that. It asks nobody: package
// topics looks, and does what is said here.
//
//	config            the settings, with their variables
//	policy            what a topic is created with
//	mismatch, clocks  where an existing one differs, what follows from it, and what to do
//
// # Non-obvious
//
//   - Topics of real brokers are created with LogAppendTime: Apache Kafka 4 refuses a
//     record whose time is an hour ahead, and a stage with such a clock would stand
//     still (TestAClockThatIsAheadStopsNothing in package topics). When ingest took a
//     call is thereby when the broker stored it. kfake changes the time of a batch and
//     leaves its checksum, so the embedded broker keeps the time of its clients, whose
//     clock it shares (TestOptionalSettings).
package policy
