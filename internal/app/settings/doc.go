// Package settings is what the process is started with: its settings, read from the
// environment, where it writes, and its log.
//
// # Non-obvious
//
//   - The environment of a process is seen by its children and by crash reports: every setting that is a secret has a form
//     NAME_FILE (TestSecretsMayBeInFiles).
package settings
