//go:build !race

package decode

// callsPerType makes more than a hundred thousand calls of all types together.
const callsPerType = 17_000
