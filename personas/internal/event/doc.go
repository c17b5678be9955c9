// Package event reads the calls on raw-events as far as audiences and computed traits
// look at them, and says whether the tests of a definition hold for a value.
//
// A value on raw-events is stable JSON (internal/stablejson): one object without white
// space, each key once. What is read is a view of the record's bytes: nothing is copied,
// and an object that nobody asks for is passed over without being taken apart. On bytes
// of any other kind it finds nothing, or something else than a JSON reader would, but it
// never fails.
//
// # Non-obvious
//
//   - A record may be years younger than its call, which an archive gave back: no call
//     happened after its own receivedAt (TestAnImportedCallHappenedBeforeItWasReceived).
package event
