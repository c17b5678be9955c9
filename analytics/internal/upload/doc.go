// Package upload makes one attempt to send a batch: it writes the request and
// says what the answer means. Whether and when there is another attempt is for
// its caller.
//
// # Non-obvious
//
//   - Bodies are written again for each attempt: sentAt has to be the attempt's
//     (TestSentAtIsTheAttempts), and net/http may still read the body of one that has
//     failed.
//   - A 302 that is followed becomes a GET whose 200 would count as success: redirects
//     but 307 and 308 are refusals (TestRedirectFollowed, TestPostsAreRedirected in
//     package analytics).
package upload
