// Package store keeps what the personas stage knows of each user: one record per user, the instants at which records are
// to be looked at again, and how far each partition has come. What is in a record is the stage's own business.
//
//	store, batch   what a store is, and what is written to it
//
// The changelog topic is the truth; a store is a copy of it that is quick to read. A store that is lost, or that forgets
// the last minutes in a crash, is brought up to date from there. It must never be anything but the state at its own
// checkpoint.
package store
