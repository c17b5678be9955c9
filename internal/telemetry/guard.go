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

// Guard lets through to next who may change things: with a token whoever sends it as a bearer token, without one a
// program on this machine. Everybody else is refused with 401 or 403 and {"errors":[{"type","message"}]}.
//
// Without a token the peer's address alone would not do. A page in a browser on this machine can send requests to a
// loopback port, under its own name if it has that resolved to 127.0.0.1; and behind a proxy on this machine
// everybody is a loopback peer. So a request that names another host, or comes from another page or by way of a
// proxy, is not taken for a local one.
func Guard(token schemas.Secret, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case token == "" && !local(r):
			refuse(w, http.StatusForbidden, "forbidden", "without ADMIN_TOKEN only a program on the same machine may do this, by a loopback address")
		case token != "" && !bears(r, token):
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, "unauthorized", "expected ADMIN_TOKEN as a bearer token in the header Authorization")
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

// local tells whether a request comes straight from a program on this machine.
func local(r *http.Request) bool {
	for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(header) != "" {
			return false
		}
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() {
		return false
	}
	return loopbackName(r.Host) && http.NewCrossOriginProtection().Check(r) == nil && sameSite(r)
}

// sameSite holds reading requests to what cross-origin protection holds the others to: they tell about users.
func sameSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "none" || site == "same-origin"
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
