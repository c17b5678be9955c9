// Package schematest makes calls and events for tests, at random and from a
// seed: what SDKs send, what nobody should, and all between. A test that holds
// two descriptions of a call against each other takes its corpus from here.
//
// [Generator.Call] and [Generator.Batch] are texts as a client may send them;
// about half of the calls are good. [Generator.Event] is an event as ingest
// writes it, and [CheckEvent] is the contract between ingest, which writes
// nothing else, and the stages behind it, which take all of it: each side is
// tested against it alone.
package schematest
