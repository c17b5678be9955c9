// Package peer tells from which address a request comes: that of the connection
// or, where the connection is a proxy's that the operator trusts, the address
// that the proxy names in Forwarded (RFC 7239) or X-Forwarded-For.
//
// Whoever sends a request writes what they like into these headers, and a proxy
// adds its part at the end. So they are read from the end, an element at a time,
// for as long as the address that vouches for the element is a trusted one: what
// stands further left is a claim of somebody unknown. An element that can't be
// read, or that hides the address, ends the walk, and the last address that was
// vouched for is the answer. The answer is never a claim, at worst it is a proxy.
//
// A proxy that writes one of the two headers passes on the other as the client
// sent it. Where both are there, they count only when they lead to the same
// address.
package peer
