// Package ask answers what a person asks of personas: which audiences and computed traits
// there are and how far they are, who is in them and why, what was told and when, what an
// edit would change, and whether what was told is right.
//
// It asks the brokers alone and, but for a resync, changes nothing: personas-changelog has the state of each
// user and how far each partition is, raw-events the calls and what was told. So it answers
// while no personas runs, and as of when it ran last: an answer is by the clock of the
// partition, which it names.
//
//	ask, workspace    where answers are read; the definitions
//	list, members     definitions, and the users in them
//	profile, explain  one user
//	resync            has the stage tell a destination once more, which it does by itself
//	history, growth   what was told, and how an audience grew by it
//	versions          what a definition said, and what an edit changed in it
//	preview, check    users computed again: what an edit would tell, what is wrong
//	replay            has that done, partition by partition (part), on piles (note) of some
//	                  users at a time (crowd); later, those who have other ids
//	print             for people: definitions and users; trees (printtree), and what was
//	                  computed or sent again (printdone)
//
// # Non-obvious
//
// Brokers compact the changelog when they get to it, so a user may have many records, of
// which the last counts (TestMembers).
//
// A preview goes on from the state that the stage has, and reads of raw-events only what
// the leaves lack that are new. So it says what would be told, also where raw-events no
// longer has all that the state was made of (TestPreview). Who refers to a definition that
// changes, changes with it.
//
// A resync is the stage's, and not a command's that reads who is a member and writes that: a
// user who leaves in between would be told so first (TestResync).
//
// What was told is committed together with the state that it follows from. So what stood
// on raw-events before the state was read is in it, and a later call is not held against
// it (TestCheck).
package ask
