// Package topics creates the topics that stages need, lists those there are, and
// compares them with the settings: once ([Admin.Check]), or as a service for as long as
// a process runs ([Watcher]). What they are created with is for package policy to say.
//
//	topics, create, steps  topics that exist, and those that do not; many of them
//	hidden                 topics that our principal may not see, or not create
//	check, watcher         topics that differ from the settings
//
// # Non-obvious
//
//   - Brokers that refuse a setting do not say which (TestBrokersThatLackASetting).
//   - A request for thousands of topics takes longer than it may, and then nothing says
//     which of them were created: they are created in steps (TestEnsureInSteps).
//   - Brokers refuse a request that names a topic twice, so each name is taken once
//     (TestEnsureCreatesEachTopicWithItsPolicy).
//   - Lookups of topics are answered from the client's metadata for up to MetadataMinAge:
//     a topic that was deleted a moment ago still exists there. No test holds this.
//   - Brokers do not say how many partitions a topic was created with: what shows that
//     some were added is the settings, or a process that looks on
//     (TestGuardSeesPartitionsThatAreAdded).
//   - Metadata of all topics leaves out what may not be seen, without an error; a named
//     topic that may not be seen is an error for the whole lookup. The right to create a
//     topic does not let a principal see it; the rights to read and to write do
//     (TestEnsureNamesTheTopicsItMayNotSee).
package topics
