// Package lab sets up what a row of the fault bench works with: a broker, the
// product's processes on it, receivers, a load, and books. What it starts it
// ends.
package lab
