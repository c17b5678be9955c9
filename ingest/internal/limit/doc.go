// Package limit bounds how often something may be asked: events per source
// ([Sources]), wrong write keys per address ([BadKeys]).
//
// Both are token buckets: a full one allows a burst, and what is taken comes
// back at the rate. Whoever is refused is told when to come again, in whole
// seconds (protocol, 13).
//
// # Non-obvious
//
//   - Wrong keys are limited per address, good ones in header or query never: an office
//     or a mobile network may share an address (TestAnAddressWithWrongKeys in package
//     ingest).
package limit
