// Package users has the profiles of a partition's users while a transaction changes them,
// in front of the store that has what is committed.
//
// # Non-obvious
//
// A profile that a transaction has touched is that transaction's: if it is dropped, the
// profile is too, and is read from the store again (TestAbandon).
//
// There is always a timer of a user at or before the instant at which they are due. One
// that is due later than before keeps the timer that there is, which fires too early and
// is set anew then: most changes move the instant later, and cost nothing so
// (TestTimersMoveLater).
//
// Which profiles are kept decoded is decided by generations, not by a list of who was used
// last: it takes no more than two maps, and who is used all the time stays
// (TestKeptUsersAreBounded).
package users
