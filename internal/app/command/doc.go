// Package command is what `anabranch` does beside running: commands that a person
// gives, each of which ends by itself.
package command
