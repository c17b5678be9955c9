// Package upload makes one attempt to send a batch: it writes the request and
// says what the answer means. Whether and when there is another attempt is for
// its caller.
package upload
