//go:build race

package wsschema

// everyPlace: the race detector makes everything ten times slower, and there is nothing to
// race for here.
const everyPlace = 10
