// Package runs reads which replays and imports are under way, for what shows them beside the
// stages: `anabranch status` and the console, which say the same.
package runs
