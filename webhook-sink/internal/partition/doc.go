// Package partition is what the sink knows of one partition for as long as it is
// assigned to it: what was begun and finished, which keys are set aside, how far the
// partition reaches, and what is to be committed for it. It holds no events; those
// that wait or are in flight are the dispatcher's, whose mutex guards all of this.
//
// # Files
//
//	partition    begin, finish, rewind
//	aside        keys that are read a second time
//	extent       what is unread, and since when; the progress that others see
//	record       a fetched record in memory
//	watermark    what is committed
package partition
