// Package certs presents a certificate from two files, to clients or to servers, and
// follows them: what a renewal writes there is in use a second later, without a restart
// and without a connection lost.
package certs
