package cors

import "net/http"

// The names of headers, as net/http spells them.
const (
	origin                = "Origin"
	requestMethod         = "Access-Control-Request-Method"
	requestHeaders        = "Access-Control-Request-Headers"
	requestPrivateNetwork = "Access-Control-Request-Private-Network"

	allowOrigin         = "Access-Control-Allow-Origin"
	allowCredentials    = "Access-Control-Allow-Credentials"
	allowMethods        = "Access-Control-Allow-Methods"
	allowHeaders        = "Access-Control-Allow-Headers"
	allowPrivateNetwork = "Access-Control-Allow-Private-Network"
	exposeHeaders       = "Access-Control-Expose-Headers"
	maxAge              = "Access-Control-Max-Age"
)

// Values that never change. Answers share them, so they are full: what is added
// to one is a copy.
var (
	yes      = []string{"true"}
	anybody  = []string{"*"}
	methods  = []string{http.MethodPost}
	allowed  = []string{"OPTIONS, POST"}
	exposed  = []string{"Retry-After"}
	aDay     = []string{"86400"}
	byOrigin = []string{origin}
	// Caches have no use for an answer to OPTIONS, but proxies of customers have
	// been configured to keep them.
	byRequest = []string{origin + ", " + requestMethod + ", " + requestHeaders}
)

// FromBrowser reports whether a browser sent the request for a page: every
// browser names the page's origin with a POST, and nothing else does.
func FromBrowser(r *http.Request) bool { return r.Header.Get(origin) != "" }

// Allow lets the page that sent the request read the answer, whatever the answer
// is. Without an Origin there is no page, and nothing is set.
func Allow(answer http.Header, r *http.Request) {
	if !FromBrowser(r) {
		return
	}
	answer[allowOrigin] = r.Header[origin][:1:1]
	answer[allowCredentials] = yes
	answer[exposeHeaders] = exposed
	answer["Vary"] = byOrigin
}

// Preflight answers a request with the method OPTIONS, for any path and before
// anything is known of the key, which browsers don't send with it: what is wrong
// with a call is said in the answer to the call, which the page can read.
func Preflight(w http.ResponseWriter, r *http.Request) {
	answer := w.Header()
	Allow(answer, r)
	if !FromBrowser(r) {
		answer[allowOrigin] = anybody
	}
	answer[allowMethods] = methods
	if wanted := r.Header[requestHeaders]; len(wanted) > 0 {
		answer[allowHeaders] = wanted
	}
	if r.Header.Get(requestPrivateNetwork) == "true" {
		answer[allowPrivateNetwork] = yes
	}
	answer[maxAge] = aDay
	answer["Allow"] = allowed
	answer["Vary"] = byRequest
	w.WriteHeader(http.StatusNoContent)
}
