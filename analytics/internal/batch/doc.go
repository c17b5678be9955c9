// Package batch is what leaves together, and decides when that is better attempted in
// parts. It starts no goroutine, knows no clock and has no lock.
package batch
