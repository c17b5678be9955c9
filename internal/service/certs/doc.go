// Package certs serves a certificate from two files and follows them: what a
// renewal writes there is in use a second later, without a restart and without
// a connection lost.
package certs
