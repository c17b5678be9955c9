// Package acl is the list of what each role of Anabranch must be allowed on the
// brokers: the least with which it works, and nothing beside it. A role is what one
// principal does: a stage, or a command that somebody types.
//
//	acl       a rule, and the command that puts it in force
//	roles     the list
//	markdown  the list as docs/brokers.md shows it
//
// That each rule is needed and that no other is, is tried on a real Apache Kafka
// by package securitytest.
package acl
