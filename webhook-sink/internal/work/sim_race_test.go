//go:build race

package work

// slowly: the race detector makes everything ten times slower.
const slowly = true
