// Package acl says what a role of Anabranch must be allowed on the brokers: the least
// with which it works, and nothing beside it. A role is what one principal does: a
// stage, or a command that somebody types. Each is declared by the package that does
// it, and package app has the list.
//
//	acl       a rule, and the command that puts it in force
//	rules     rules on one resource
//	markdown  roles as docs/brokers.md shows them
//
// That each rule is needed and that no other is, is tried on a real Apache Kafka
// by package securitytest.
package acl
