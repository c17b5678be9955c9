//go:build !race

package wsschema

// everyPlace is how many places of a file there are to each that is tried.
const everyPlace = 1
