// Package logging has the handlers of log/slog between the client and what its user
// has given it to write to.
package logging
