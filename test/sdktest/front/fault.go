package front

import (
	"fmt"
	"net/http"
	"strconv"
)

// Fault is what a request meets instead of the product.
type Fault struct {
	Status     int    // of the answer; 0: the connection is cut when the request has arrived
	RetryAfter string // header of the answer; empty: none
}

// The faults that an SDK has to get over (protocol, 13).
var (
	Unavailable     = Fault{Status: http.StatusServiceUnavailable, RetryAfter: "1"}
	TooManyRequests = Fault{Status: http.StatusTooManyRequests, RetryAfter: "1"}
	Cut             = Fault{}
)

// String is "503", "429" or "cut".
func (f Fault) String() string {
	if f.Status == 0 {
		return "cut"
	}
	return strconv.Itoa(f.Status)
}

// serve commits the fault. A page on another origin sees an answer's status only
// with the headers of CORS.
func (f Fault) serve(w http.ResponseWriter, r *http.Request) {
	if f.Status == 0 {
		cut()
		return
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Set("Access-Control-Allow-Credentials", "true")
		w.Header().Set("Access-Control-Expose-Headers", "Retry-After")
	}
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	fmt.Fprintf(w, `{"success":false,"code":"injected","message":"injected %d","error":"injected %d"}`, f.Status, f.Status) //nolint:errcheck // the client may have gone
}

// cut closes the connection without a word.
func cut() {
	panic(http.ErrAbortHandler)
}
