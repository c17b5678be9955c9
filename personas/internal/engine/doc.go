// Package engine says who is a member of which audience, and what the computed traits of
// a user are. It knows neither Kafka nor a clock: calls and instants go in, changes that
// are to be told come out.
//
//   - compile.go, leaf.go: definitions are compiled to a [Catalogue]. What they need of a
//     user is leaves, which they share;
//   - fold.go: a call, or another user, is taken into a [Profile];
//   - advance.go, node.go: what is true at an instant is compared with what was told;
//   - profile.go, codec.go: one user's state, in memory and as it is stored;
//   - explain.go: why somebody is a member or not.
//
// Below it, personas/internal/event reads calls and tests values, and
// personas/internal/state remembers what leaves need.
//
// There is one rule for what is told: what is true and was not told is told, whether a
// call, the time, an edit or a merge has made it true. So each member of a new audience
// is told once, and an edit tells exactly the differences.
//
// What is true is asked as of now: a call that comes late changes what is true from now
// on, and nothing is told of the past. The change then bears the time of the user's
// latest call, never an earlier one than the change before it.
//
// # Non-obvious
//
//   - A ring keeps the latest events alone, so what is due before a call has to be told
//     before the call is folded: [Catalogue.Take] (TestWhatIsOverdueIsToldInOrder).
//   - The due instant that a profile has may be too early, never too late: a call only
//     ever brings it forward, and when it comes everything is looked at anew. That spares
//     looking at all definitions at every call (TestTheOracleAgrees).
//   - Due is later than now: a slip is a timer that fires for ever (TestDueIsLaterThanNow).
//   - A definition of which one leaf is being filled for another one tells nothing yet, even
//     if its others are ready (TestALeafThatIsBeingFilledTellsNothing).
//   - State that nobody needed for a while lies on in the profiles that were not written
//     meanwhile, and has missed events: the stage gives no definition such a leaf before a
//     sweep has rewritten every record (TestDefinitionsComeAndGo).
//   - A definition that comes into force must not be evaluated at the instants that were due
//     before: where it shares what is filled already, its users would be told that they came
//     and went while it was not there. It is held until everybody has been told what was due
//     ([Audience].Held; TestTheOracleAgrees).
//   - Audiences that refer to one another form a graph, not a tree: each is looked at once
//     per instant (TestReferencesAreNotMultiplied).
//   - The least time between two changes runs from when the last was told, not from when it
//     came to be: calls of long ago would be told one by one
//     (TestLateCallsAreToldNoMoreOften).
//   - Who does not count any more, since an edit leaves out users without an id, has nothing
//     that is true, and is told so (TestAnonymousUsersAreToldThatTheyNoLongerCount).
//   - The count of changes outlives a deletion, or a user who comes back would have changes
//     with the ids of earlier ones (TestForgettingKeepsTheCount).
//   - The ids of leaves are in the records of users (TestLeafIDsStay).
package engine
