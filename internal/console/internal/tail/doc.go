// Package tail follows raw-events for all who look at calls as they come. One reader serves
// every open tail of the process: it begins with the first and ends a while after the last.
//
//	call  a call as it stands on raw-events, and which calls somebody wants to see
//	hub   the reader, what came last, and who is told
//	tail  what one of those who look has yet to take
//
// A tail holds a bounded part of what its person has yet to be shown. What does not fit is
// counted and not kept, so nobody who reads slowly costs memory or holds up the others.
//
// # Non-obvious
//
//   - A record that is kept keeps the whole fetch that it came with, up to a megabyte: a call
//     has a copy of its value (TestACallKeepsNoFetch).
//   - What is left out goes by the second in which a call was taken, not by that in which it
//     was read: after a standstill of the broker a hundred seconds may come at once
//     (TestACapForEachSecond).
//   - A tail that begins is given what came in the last ten seconds too, or what came between
//     the page and its stream would be shown nowhere. It is not counted, and the page knows
//     what it has by the offsets (TestANewTailKnowsWhatCameLast).
package tail
