// Package testsend makes test deliveries: one event to the endpoints of a destination, as the
// webhook sink would send it, with what was sent, what came back and what that would mean for
// an event.
//
// The client is the sink's own, with its guard of addresses, its TLS, its signature and its
// bound in time. What is not the sink's are the breakers, which are not asked and learn nothing:
// a test is made of an endpoint that is down, too, and counts as no delivery anywhere.
//
//	send     a Sender, and one delivery
//	example  the event where none is given
//	print    for people
//
// Nothing here shows a secret of the endpoint: not those of the request, and not where the
// answer repeats them.
package testsend
