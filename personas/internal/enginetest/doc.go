// Package enginetest has the definitions and calls that the stage's benchmarks are measured with, so that the figures of
// the engine and of the stage are of one kind of work.
package enginetest
