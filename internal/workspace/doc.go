// Package workspace is the live configuration: which sources may send calls,
// and which destinations receive them.
//
// It is the model alone, all that a stage needs: an immutable [Snapshot] behind
// an atomic pointer ([Live]). The tags of its types declare how they are written
// down, in [Document]. Where snapshots come from is the business of the
// packages below it, none of which this one imports. People write a YAML file,
// which wsfile reads and wswatch watches; wstopic keeps the workspace in the
// topic `workspace` and follows what the topic says. The file is only a way in:
// what the stages obey is the topic.
//
//	file -> wsfile -> Snapshot -> wstopic -> topic -> wstopic -> Snapshot -> Live -> stages
//
// The type of a destination decides which other keys it has (the tag only of package kind),
// what its topic is called ([Destination.Topic]), and which stage works for it
// ([Snapshot.DestinationsOf]). The usual one keeps the word that files and records have had
// since there was no other, webhooks. A type is a word of the record and no new kind of
// record, so that ids are shared and a destination may change it. What a release does not
// know it leaves alone: the destination stays as it was, or is not there
// (TestATypeOfALaterReleaseChangesNothing in wsrecord).
//
// No type of this package shows a secret when it is printed, logged or
// marshalled.
package workspace
