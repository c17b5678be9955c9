//go:build race

package decode

// callsPerType: the race detector makes everything ten times slower, and there
// is nothing to race for here.
const callsPerType = 2_000
