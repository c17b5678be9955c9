// Package wsfile reads the file in which people write a workspace.
//
// It is YAML. [Load] resolves the secrets that the file refers to, and either
// returns the workspace or lists everything that is wrong with the file, each
// problem with its line, its path, what stands there and what was expected. No
// problem shows a secret. [Edit] reads a part of one: definitions, to look at what they would
// change.
package wsfile
