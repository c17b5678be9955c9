// Package rawtext looks at JSON text as it was received, for what the stable form
// no longer tells: what is nested too deep to be read at all, and how a number was
// written.
package rawtext
