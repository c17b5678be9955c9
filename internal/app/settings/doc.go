// Package settings is what the process is started with: its settings, read from the
// environment, where it writes, and its log.
package settings
