// Package settings makes of a client's settings what it works with.
package settings
