// Package timestamp reads the time stamps that clients put on their calls, takes
// the error of the client's clock out of them, and prints instants in the one
// shape that is stored. All of it is rule 10 of the protocol.
//
// Instants are Unix milliseconds, as they are compared and stored.
package timestamp
