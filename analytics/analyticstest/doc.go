// Package analyticstest is for tests of programs that use package analytics: a
// [Server] that a client may be pointed at, a [Recorder] with a client that needs no
// server, and a client that [Discard] makes for tests that are about something else.
package analyticstest
