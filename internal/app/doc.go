// Package app composes the process: it builds the shared plumbing once, and runs
// the stages that a target names. The one-process mode and the split stages are the
// same code; they differ in who started the broker and in its address.
//
//	settings   what the process is started with
//	command    what it does beside running
//
// # Non-obvious
//
//   - On the embedded broker group members are dynamic: a member under a new static name
//     would wait for the session of the old one to end. No test holds this.
package app
