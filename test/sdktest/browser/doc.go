// Package browser has an SDK speak in a real Chromium, from a page whose origin
// is not that of the collection API: [Speaker] makes the Start of a driver.
//
// The folder of such a driver has a page.js, a module whose function open(job)
// loads the SDK and promises an object:
//
//	say(call)    makes a call of the scenario before it returns, and promises that
//	             the SDK has taken it
//	speaksLast   whether the SDK sends what it has taken when the page goes away
//	rest()       if there, promises that the SDK has no request still to make
//
// The job is what is served as /job.json, with a function settled(n) that promises
// that the first n calls have been accepted.
//
// Three parties take part. The pages come from localhost; the relay, at 127.0.0.1
// and hence of another origin, stands before the collection API and notes which
// calls it accepted; the browser is an ordinary headless one that nobody steers:
// the page does what it is there for and goes away. No request of a page that has
// gone can be seen in the browser, only at the relay.
package browser
