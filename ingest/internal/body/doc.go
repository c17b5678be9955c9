// Package body reads the body of a request up to its limit, and undoes its
// compression.
//
// It does so in two steps, since they cost different things. [Body.Receive] waits
// for a client, which may be slow; memory follows what has arrived, not what was
// announced. [Body.Text] needs the processor: gzip is inflated there, and the
// limit holds while that is done, so a body that would become a gigabyte costs no
// more than one that is as long as it may be (protocol, 2).
package body
