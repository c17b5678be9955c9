// Package cut decides which records of a partition go into which objects, without Kafka, a
// store or a clock.
//
//	mark       what the group keeps for a partition, and how a commit says it
//	measure    what has been read of a range that is still open, and when it is closed
//	partition  ranges on their way: announced, written, done
//
// Objects are named by the offsets of their range, so a range has to be cut at the same
// offset again whatever ends the process. What closes a range is no help: its age goes by
// the clock, how far a partition was read by the brokers' mood, and either may have been set
// otherwise since. So the cut is decided once, and committed before anything is written:
//
//	commit from=100 to=0       all before 100 is stored
//	commit from=100 to=250     100 to 250 is next, and nothing else is
//	write  3-100-250           any number of times, by anybody: the same bytes
//	commit from=250 to=0       it is stored
//
// A kill before the second commit leaves nothing behind, and the range is cut as it then
// comes. After it, whoever has the partition next writes that very range first. The bytes
// follow from the range alone: what a partition holds between two offsets for readers of
// committed records does not change, but for what retention takes.
//
// A process that has lost its partition, and does not know yet, cannot announce a range: the
// group refuses the commits of a generation that is over. It can go on writing one that was
// announced while it was a member, and so writes what its successor writes.
//
// # Non-obvious
//
//   - A commit that was sent and not answered may reach the group late, behind the next one,
//     and take an announcement back. So after one the partition is not touched until the
//     group has a new generation, which refuses what is late; see package group beside this
//     one (TestKilledAnywhere has such commits).
package cut
