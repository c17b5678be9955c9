// Package stagefaults has the rows about what happens to the product's own side:
// its processes, its broker, its workspace.
package stagefaults
