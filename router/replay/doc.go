// Package replay sends past events of raw-events once more, through the connections of
// today. The stage router runs its [Service] beside itself, and a person asks for runs as an
// [Operator].
//
// A run is three kinds of records in the topic `replays`, and the plan that it was started by
// may be a fourth:
//
//	plan/<id>                a run that can be started by its id, for a day
//	run/<id>                 what is wanted: range, choice, destinations, rate; running, paused or cancelled
//	claim/<id>               who carries it out, and what it waits for
//	part/<id>/<destination>  how far it is with one destination, what was sent and what left out
//
// The events are those of raw-events, or those of an archive, which outlives it: a [source]
// has them, each at an offset. Those of an archive are places in its objects (package
// archived). Where a run reads one, the run says which objects there were, and ends as failed
// when there are others; while the archive is away it waits.
//
// People write the first, and whoever carries the run out the other two, so that neither
// waits for the other: a pause is one record, which is heard of within a fraction of a
// second, and no step follows it.
//
// What is sent goes to replay.<destination>, the lane that the webhook sink empties behind
// live events. It has its own bytes, key and messageId, and headers that say which run it
// is of. Events and the part of each destination are one transaction under a transactional
// id of the run. Whoever takes a run over fences first, then writes a claim and waits to see
// it: all that the predecessor has committed stands before it (package regulation has the
// same).
//
// Each destination has a part of its own, with a place on every partition. One that reads
// for all of them at once would have to wait for the slowest destination, or to remember
// what it has passed over for it. The price is that the log is read once for each.
//
// A part sends while little of what it sent waits: two seconds of its rate, or a thousand
// events. So a destination that is down stops its own part after that, and what is paused
// or cancelled is nearly all that is not delivered.
//
//	run, book        the records, and what is known by them
//	operator         asks for runs
//	agenda, service  who takes up which run, and when
//	errand, leg      a run in hand, and its part at one destination
//	step             what is sent in one transaction
//	verdict          what becomes of an event: the rule of the router, and what is different here
//	survey, bits     what the range has to be read for as a whole, once
//	source           the log, or an archive
//	deletions        whose data was to be deleted since
//	plan, keep       what a run would do, and how it is started as it was planned
//	print            what people read
//
// # Copies and the past
//
// Of calls with the same source, messageId and key the first in the range of a run is sent:
// not what the router remembered then, which is known for ROUTER_DEDUP_WINDOW, nor what the
// journal says, which may be off. This makes no difference between a range that a copy
// begins and any other, and it comes out the same in each process that has the run.
//
// What was sent then is known from the journal alone: delivered, or sent and not known to
// be dead. What may still be under way is therefore not missing.
//
// Memory is bounded by the largest partition: its fingerprints take 24 bytes an event while
// the range is read. Beyond that a set of events takes a bit each.
//
// # Non-obvious
//
//   - A transaction that fails may be about any of the destinations that are in it, and a topic
//     without a leader says nothing at all. So who was in one that failed writes alone until
//     that succeeds (TestATopicThatTakesNothing).
//   - The key of suppressed users is needed where a run is carried out, and a router without it
//     does not know whom to leave out: the run stands still (TestAUserWhoIsHidden).
//   - A topic of the same name is another log: offsets of a run mean nothing there
//     (TestALogThatWasMadeAnew).
//   - A copy is one as long as the log has what it is a copy of. Where retention takes that
//     while the run changes hands, the copy is sent too. No test holds this.
//   - Each process that has a run begins a second of its rate afresh, so processes that take
//     it from one another send faster than its rate (TestKilledAgainAndAgain).
//   - An archive knows a user to be deleted by the time of the request, since objects of one
//     range are read one source after the other (TestAPlanOfAnArchive). The requests are read
//     from all that it has since the first day of the range, once.
//   - A router of an earlier release would read the log where an archive is meant, so such a
//     run is of a later version (TestAnEarlierReleaseLeavesArchivesAlone).
//   - An open transaction hides what others write behind it, and `replays` is read by all of
//     them: a step writes its events first and that topic last. No test holds this.
package replay
