// Package wswatch applies a workspace file whenever it changes. It knows how to
// read the file and not where a workspace goes: what applies it is passed in.
package wswatch
