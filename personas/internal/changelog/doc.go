// Package changelog has the topic personas-changelog: a record of each user whom a
// transaction changed, and one of each partition that it touched ([Meta]), and brings a
// store up to date from it ([Restorer]).
//
// The topic is the truth. A store is a copy that lags behind, or leads when the brokers
// lost what they had confirmed; it is read on from its checkpoint where that is a place
// of the topic, and anew where it is not (TestRestore).
//
// # Non-obvious
//
// What is restored is read up to the end of the log, not to that of what is committed:
// a transaction whose offsets count may not have its markers yet, and without what it
// changed half of all that is told later would be wrong (TestRestoreWaitsForTheMarkers).
// It begins after the group's offsets were fetched, for the same reason.
//
// No user is ever removed from the topic: one who was deleted or merged away leaves a
// mark. So a store that is older than brokers keep removals misses none.
package changelog
