// Package door decides who may look at the console and who may act, and keeps pages of
// other sites away from it.
//
//	door      who a request is from
//	session   those who have logged in
//	harden    the headers of each answer, and what a browser says of a request
//
// # Non-obvious
//
//   - A proxy on the same machine that says nothing of itself looks like a person there. So
//     who has not logged in may look at most, on a loopback address alone, and not where
//     ADMIN_TOKEN is set; one that does say something of itself is let in by no address
//     (TestWhoMayLook).
//   - With Referrer-Policy: no-referrer, browsers send "Origin: null" with a form, and those
//     that are not sent Sec-Fetch-Site, as over plain HTTP, would be refused: it is
//     same-origin (TestForms).
//   - Cookies do not tell ports apart: another program of the same machine may be sent the
//     session if the person opens its page. It is worth what a session can do, and ends.
package door
