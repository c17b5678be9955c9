// Package archived reads the objects of an archive as if they were a log: partitions of
// events, each event with an offset.
//
// The objects of a partition are put in the order of their names' ranges. Each range has as
// many offsets as its name says, from where the one before it ends; its lines take the first
// of them, object after object. So offsets are dense, and the same whoever counts them, as
// long as the objects are the same. They say nothing beyond one [Log], whose [Log.Digest]
// tells it from others.
//
//	log     which objects, and their offsets
//	reader  one partition, line by line
//	event   a line as the record that it was of
//
// # Non-obvious
//
//   - Ranges may overlap, where a log lost its end while it was archived, so the offsets in
//     names can't be the positions of a reader (TestRangesThatOverlap).
//   - A range becomes several objects, one after the other. Where one of them is young,
//     others of it may be missing: the range is left out (TestARangeUnderWay).
//   - An object that is gone may be one that was removed, or a directory that is not mounted.
//     Only where the place still says whose it is, is the former meant (TestWhatIsGone).
package archived
