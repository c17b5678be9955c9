// Package dispatch is the state of the sink's loop: which partitions are ours,
// what waits, and what is in flight. It decides what starts next; what it decides
// is carried out by others through the functions it is given.
//
//	poll -> queue of the destination -> lane of the key ---------> slot -> work
//	poll -> heap by due time -> due ----> a wait in memory ------> slot -> work
//	                             |------> no room: a slot reserved, put back
//	                             |------> due later: put on
//
// # State
//
// One mutex guards all of it: each operation takes about a microsecond and an event
// needs three, while finer locks would have to agree on who may still start when a
// partition is taken away in the middle of it. Under it the client is told to pause and
// resume, and goroutines are started; nothing is waited for. Exported methods take it;
// all others are called with it held, and timers take it first of all.
//
//	dispatch      Take, Done and Stop: the way of a job, what is in flight
//	assignment    partitions come and go
//	hold          destinations for which nothing may start
//	first         first attempts enter queues; keys that are set aside leave them, and return
//	retries       from parked over due to a slot, or on to another topic
//	progress      what is read, unfinished and to be committed
//
// # Non-obvious
//
//   - PauseFetchPartitions copies the list of what is paused: with ten thousand
//     partitions, pausing each took longer than reading them, so a queue that is full
//     pauses its topic (TestAFullQueuePausesItsTopicAlone).
//   - What is fetched is a view of the whole response: a job takes a copy of its record,
//     or one event that waits would keep megabytes of others in memory
//     (TestAJobKeepsNothingOfTheResponse).
//   - A retry reserves a slot once as a rule, and again only when memory is full. Half of
//     the memory for due retries is for those that come back for their slot: with all of
//     it taken by others they came back to a full memory and reserved again (TestRecovery
//     in package work).
package dispatch
