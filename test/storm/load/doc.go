// Package load makes the events of a storm at a given rate, whatever becomes of
// them: over HTTP as customers do, or straight onto a topic as the stage before
// does.
package load
