// Package metrics tells how the sink's records end: series for all of them, and
// lines in the log for those that are given up. And it shows what has not ended: the
// backlog of each destination and of each retry delay, asked for at every scrape.
//
// A record is counted when it is finished. One that is met twice, after a kill, is
// counted twice.
//
// # Non-obvious
//
//   - Lag and age are gathered at the scrape, not kept: nothing has to be unset when a
//     partition leaves (TestSeriesLeaveWithTheirPartitions).
package metrics
