// Package lag tells what waits on the partitions of a process: how many records, since
// when, and for how long a partition has stood still with records before it.
//
//	extent      what is left of one partition, and since when
//	total       partitions taken together, and the gauges that show them
//	standstill  partitions that stand still with records before them
//
// # Non-obvious
//
//   - Nothing of a partition may be in hand to tell how old its first record is. Records
//     stand nearly in the order in which they were taken, so it is no older than the last
//     that was passed, nor than the backlog (TestTheAgeOfWhatIsNotInHand).
//   - While a transaction is open that nobody ends, a partition looks read to its end:
//     for readers of committed records the end does not move. Only the end of the log
//     shows that there is more (TestAPartitionThatStandsIsAFault). A look that failed is
//     neither a standstill nor progress (TestSilentBrokersAreNoStandstill).
package lag
