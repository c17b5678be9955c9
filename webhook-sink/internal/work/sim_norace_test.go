//go:build !race

package work

const slowly = false
