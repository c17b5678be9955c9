// Package datadir keeps the directory of the embedded broker its user's alone, and the secrets that are made in it.
//
// The log holds the secrets of destinations and the events of people. What lets a program use the broker, or change things at the
// admin address, is a file here: who may read it is who may do that, and no guess from an address is needed. So is what the
// process that uses the directory runs with, for commands beside it.
//
// # Non-obvious
//
//   - kfake names the modes of its files, and others may read them by those: the umask of the process is what counts
//     (TestOthersCanNotReadTheLog in the broker).
//   - A directory that was open to others is closed if nothing but our files is in it, and its secrets are made anew; one in which
//     people live is refused, since to close it would lock them out (TestADirectoryOfOthersIsRefused there).
package datadir
