// Command largetest measures the console of a large installation: `make console-figures` runs it
// on a real Apache Kafka of its own.
//
//	fill   ten thousand destinations, a million dead letters, users and calls
//	ask    every page of the console, and the commands that show the same
//	print  the tables of docs/console.md
//
// The brokers and the console are those of users: a process `anabranch ingest`, whose memory is
// looked at, with nothing beside it. No router and no sink run, so all that was put there waits.
// With -fill=false what an earlier run has put there is asked for once more.
package main
