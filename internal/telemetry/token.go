package telemetry

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/anabranch/anabranch/schemas"
)

// RequireToken lets through to next who sends the token as a bearer token. Everybody else is refused with 401, or 403 when there
// is no token, and {"errors":[{"type","message"}]}.
//
// Where a request comes from says nothing: behind a proxy on this machine everybody is a loopback peer, and a proxy need
// not say that it is one.
func RequireToken(token schemas.Secret, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case token == "":
			refuse(w, http.StatusForbidden, "forbidden", "nobody may do this: set ADMIN_TOKEN, and send it as a bearer token in the header Authorization")
		case !bears(r, token):
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, "unauthorized",
				"expected ADMIN_TOKEN, or the token in DATA_DIR/admin-token where that is not set, as a bearer token in the header Authorization")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// bears tells whether a request carries the token. Hashes are compared, in constant time: neither the token's
// length nor its beginning shows in how long that takes.
func bears(r *http.Request, token schemas.Secret) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	want, got := sha256.Sum256([]byte(token.Reveal())), sha256.Sum256([]byte(strings.TrimSpace(given)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// guardLoopback keeps pages in a browser on this machine from reading next: they can send requests to a loopback port,
// under a name of their own if they have it resolved to 127.0.0.1. A request without a host is none of a browser.
func guardLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if loopbackPeer(r) && (r.Host != "" && !loopbackName(r.Host) || !sameSite(r)) {
			refuse(w, http.StatusForbidden, "forbidden", "from the same machine, ask by localhost or a loopback address, and not from another page")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func loopbackPeer(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback()
}

// sameSite holds reading requests to what cross-origin protection holds the others to: they tell about users. A link
// that somebody follows, or a login elsewhere that sends them back, shows a page to them and not to where they come from.
func sameSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	follows := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	return (site == "" || site == "none" || site == "same-origin" || follows) && http.NewCrossOriginProtection().Check(r) == nil
}

// loopbackName tells whether a Host header can only mean this machine.
func loopbackName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.Unmap().IsLoopback()
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"errors":[{"type":%q,"message":%q}]}`+"\n", kind, message) //nolint:errcheck // the client has gone; there is nobody to tell
}
