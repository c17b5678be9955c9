// Package objects keeps the objects of an archive: in a directory, or in a bucket of what
// speaks the protocol of S3. The stage that archives writes them, and a replay reads them.
//
//	objects    what both can do, and which one a place is
//	directory  files that are there whole or not at all
//	bucket     objects of a bucket
//	claim      a place belongs to one topic
//
// The client of buckets is minio-go, which adds 1.8 MB to a program that speaks HTTP and a
// dozen modules; the SDK of AWS with the client of S3 alone adds 2.5 and as many. It
// finds credentials where none are given, addresses buckets of the large clouds by host and
// all others by path, and needs nothing but an endpoint for those.
//
// # Non-obvious
//
//   - Topics that are made again count their offsets from 0, and so may overwrite what was
//     archived of the last one. So the first object of a place says which topic it is of,
//     and another one is refused (TestAPlaceBelongsToOneTopic), also where both look for it
//     before one has written it (TestTwoClaimOnePlace).
//   - A temporary file has a name of its own each time. Two processes may write one object
//     at once when one of them does not know yet that it has lost its partition: in a shared
//     file, one could publish what the other has just cut to nothing (TestTwoWriteOneObject).
package objects
