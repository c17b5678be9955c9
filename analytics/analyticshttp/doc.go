// Package analyticshttp has the calls of a web server's handlers say which request
// they were made for: with the context that the family's other libraries send from
// browsers.
//
//	client, err := analytics.NewClient(key, analytics.WithBeforeEnqueue(analyticshttp.Enrich))
//	…
//	http.ListenAndServe(addr, analyticshttp.Middleware(mux))
//
// A handler passes its request's context to [analytics.Client.Enqueue].
package analyticshttp
