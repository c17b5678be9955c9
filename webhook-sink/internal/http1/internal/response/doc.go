// Package response reads the heads of HTTP/1.1 responses, as far as they matter to
// who made a POST: how it went, where the body ends, and for how long the connection
// is good.
//
// It takes what net/http takes, against which it is fuzzed, but for what two readers
// could understand differently. Nothing of what it read is kept but a Retry-After,
// and no error quotes any of it.
package response
