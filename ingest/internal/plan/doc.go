// Package plan holds calls against the tracking plan of their source: which
// events are planned, and what properties and traits may be.
//
//   - plan.go: a workspace.TrackingPlan is compiled, once, to what a look-up of
//     the call's own bytes finds;
//   - check.go, with members.go: a call is checked, without an effect and, when it
//     conforms, without a byte from the heap;
//   - finding.go: what is found is put into words, which never quote a value;
//   - plans.go, review.go: the plans of the workspace in force, for the calls of
//     a request.
//
// Only the properties themselves are judged, not what objects and arrays in them
// hold.
//
// # Non-obvious
//
//   - A plan is compared with the bytes of stable JSON as they stand: names are escaped
//     once, when it is compiled (TestNamesAreComparedAsTheyStandInCalls), and a call that
//     conforms costs no memory (TestConformingCallsCostNoMemory).
//   - No events in a plan and an empty map of events are two things: the first does not
//     judge track calls, the second plans none (TestTracksAreJudgedWhenEventsArePlanned).
package plan
