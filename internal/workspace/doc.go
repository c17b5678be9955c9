// Package workspace is the live configuration: which sources may send calls,
// and which destinations receive them.
//
// A workspace is written by people as a YAML file ([Parse], [Watcher]), kept as
// one record per source and destination in the compacted topic `workspace`
// ([Read], [Publish]), and read by every stage as an immutable [Snapshot]
// behind an atomic pointer ([Follower], [Live]). The file is only a way in: what
// the stages obey is the topic.
//
// Write keys are kept as SHA-256 alone. Shared secrets and the values of static
// headers are kept as they are, since deliveries need them: whoever can read
// the topic can read them, so the topic has to be protected with ACLs. No type
// of this package shows a secret when it is printed, logged or marshalled.
package workspace
