// Package driver installs and runs the small programs that make an SDK say the
// calls of the scenario.
//
// A driver is a folder below internal/sdktest/drivers. It is copied into the
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
package driver
