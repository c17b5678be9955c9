// Package idle keeps connections that nobody uses for the next request to the same
// place, and closes those that nobody came for.
//
// One timer does that for all places, and runs only while there is something to
// close. A list's mutex guards its connections, the pool's the lists that have some.
// Neither is taken inside the other. A sweep holds the lists without a mutex: Close, which
// finds none then, is made up for when the sweep puts them back (TestClosedWhileItIsSwept).
package idle
