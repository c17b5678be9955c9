// Package wire writes calls as they are sent, and keeps nothing of the caller's.
package wire
