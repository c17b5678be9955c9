// Package compare measures the client of package analytics beside the current
// official Go client of the same protocol. It is a module of its own, so that
// nobody who builds Anabranch or imports package analytics gets the other one.
//
//	cd analytics/internal/compare && GOWORK=off go test -bench . -benchtime 30000x -count 5
//
// Beyond about 60,000 messages the queue is full and calls wait for the network, so
// that their p99 is no longer the client's own.
package compare
