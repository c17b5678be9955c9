// Package body reads the body of a request up to its limit, and undoes its
// compression.
//
// It does so in two steps, since they cost different things. [Body.Receive] waits
// for a client, which may be slow; memory follows what has arrived, not what was
// announced. [Body.Text] needs the processor: gzip is inflated there, and the
// limit holds while that is done, so a body that would become a gigabyte costs no
// more than one that is as long as it may be (protocol, 2).
//
// # Non-obvious
//
//   - A gzip body is received whole, then inflated inside a decode slot: a slow client
//     holds no slot, a bomb costs one limit (TestGzipBombs in package ingest). All bodies
//     in hand share one room of memory; the one that has least to show makes way and is
//     answered 503 (TestSilentSendersMakeWay).
package body
