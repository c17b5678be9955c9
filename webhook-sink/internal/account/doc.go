// Package account tells how the sink's records end: series for all of them, and
// lines in the log for those that are given up.
//
// A record is counted when it is finished. One that is met twice, after a kill, is
// counted twice.
package account
