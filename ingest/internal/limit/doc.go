// Package limit bounds how often something may be asked: events per source
// ([Sources]), wrong write keys per address ([BadKeys]).
//
// Both are token buckets: a full one allows a burst, and what is taken comes
// back at the rate. Whoever is refused is told when to come again, in whole
// seconds (protocol, 13).
package limit
