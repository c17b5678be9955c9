// Package driver installs and runs the small programs that make an SDK say the
// calls of the scenario.
//
// A driver is a folder below test/sdktest/drivers. It is copied into the
// cache .sdk/, where the SDK's own package manager installs what the folder
// names, in exact versions; a copy that is up to date is used as it is. Its
// program finds what to do in its environment:
//
//	ENDPOINT   base URL of the collection API, without a path
//	WRITE_KEY  of the source
//	GZIP       "on" or "off": whether the SDK shall compress its requests
//	MODE       "batch": the SDK's own batches; "each": a request per call; "exit":
//	           batches, and the SDK is ended without waiting for anything; "large":
//	           batches of large calls
//	SCENARIO   path of a JSON file with the array of calls to make
//
// It makes the calls in their order, ends the SDK as its manual says, so that what
// is queued goes out, and exits with 0. When the SDK reports that it gave a call
// up, the program says so on standard error and exits with 1.
//
// # Non-obvious
//
//   - Not every SDK keeps its own order across a 503: Python 2.4 puts the batch behind
//     younger ones, Node sends batches side by side. The order that is kept is that in
//     which requests arrive. No test holds this.
//   - Close of Segment's Go 3 and of RudderStack's Go drops a batch that waits for
//     another try: a test that ends them under a fault loses calls that the product never
//     saw. No test holds this.
package driver
