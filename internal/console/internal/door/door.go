package door

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/time/rate"

	"github.com/anabranch/anabranch/schemas"
)

// Options say who may come in.
type Options struct {
	Logger *slog.Logger
	Token  schemas.Secret // what people log in with; empty: nobody can
	// Open lets people of this machine look who have not logged in. Token may be what they
	// log in with to act.
	Open bool
	// Proxies are the networks of reverse proxies whose header names the person.
	Proxies []netip.Prefix
	Header  string
	Path    string // below which the session's cookie is sent
}

// Visitor is who a request is from.
type Visitor struct {
	// Name is what they are called in the log: by a proxy, or by themselves at the login, as
	// in "ada (by token)"; empty: somebody who may look.
	Name    string
	Session bool // whether they have logged in, so that they can log out
}

// MayAct reports whether the visitor may change something: only who has a name.
func (v Visitor) MayAct() bool { return v.Name != "" }

// Door lets people in. Make it with [New].
type Door struct {
	Options

	sessions sessions
	failures *rate.Limiter // wrong tokens, of everybody together
}

const (
	// wrongTokens may be tried at once, and one more each wrongEvery.
	wrongTokens = 10
	wrongEvery  = 6 * time.Second
	// maxName bounds the name of a person, in bytes.
	maxName = 128
)

// New returns a Door.
func New(options Options) *Door {
	return &Door{Options: options, failures: rate.NewLimiter(rate.Every(wrongEvery), wrongTokens)}
}

// Locked reports whether nobody at all can come in: what has to be set is missing.
func (d *Door) Locked() bool { return !d.Open && d.Token == "" && len(d.Proxies) == 0 }

// Visitor returns who a request is from; false: they have to log in first.
func (d *Door) Visitor(r *http.Request) (Visitor, bool) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return Visitor{}, false
	}
	if d.trusts(peer.Addr()) {
		if name, named := person(r.Header.Values(d.Header)); named {
			return Visitor{Name: name}, true
		}
	}
	if name, in := d.sessions.find(r, time.Now()); in {
		return Visitor{Name: name, Session: true}, true
	}
	return Visitor{}, d.Open && peer.Addr().Unmap().IsLoopback() && !forwarded(r.Header)
}

func (d *Door) trusts(peer netip.Addr) bool {
	for _, network := range d.Proxies {
		if network.Contains(peer.Unmap()) {
			return true
		}
	}
	return false
}

// person is whom a header names. Of two headers one may be the visitor's own.
func person(values []string) (string, bool) {
	if len(values) != 1 || values[0] == "" || len(values[0]) > maxName || !plain(values[0]) {
		return "", false
	}
	return values[0], true
}

// plain reports whether a log and a page show a name as it is.
func plain(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) })
}

// forwarded reports whether a request came by way of a proxy that says so.
func forwarded(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, "X-Forwarded-") || name == "Forwarded" || name == "Via" || name == "X-Real-Ip" {
			return true
		}
	}
	return false
}

// The reasons for which nobody is let in.
var (
	ErrToken = errors.New("this is not the token")
	ErrOften = errors.New("too many wrong tokens: wait a few seconds")
	ErrName  = errors.New("expected a name of at most 100 printable characters, or none")
)

// Login begins a session for who knows the token. name is what they want to be called.
func (d *Door) Login(w http.ResponseWriter, r *http.Request, token, name string) error {
	name = strings.TrimSpace(name)
	if len(name) > maxName-len(" (by token)") || !plain(name) {
		return ErrName
	}
	if err := d.check(token); err != nil {
		d.Logger.Warn("console: login refused", "reason", err, "peer", r.RemoteAddr)
		return err
	}
	name = strings.TrimSpace(name + " (by token)")
	http.SetCookie(w, d.cookie(r, d.sessions.begin(name, time.Now()), int(sessionLife/time.Second)))
	d.Logger.Info("console: logged in", "person", name, "peer", r.RemoteAddr)
	return nil
}

// check compares hashes in constant time: neither the token's length nor its beginning shows
// in how long that takes.
func (d *Door) check(token string) error {
	if d.failures.Tokens() < 1 {
		return ErrOften
	}
	want, got := sha256.Sum256([]byte(d.Token.Reveal())), sha256.Sum256([]byte(strings.TrimSpace(token)))
	if d.Token == "" || subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		d.failures.Allow()
		return ErrToken
	}
	return nil
}

// Logout ends the session of a request, if it has one.
func (d *Door) Logout(w http.ResponseWriter, r *http.Request) {
	if name, in := d.sessions.end(r); in {
		d.Logger.Info("console: logged out", "person", name, "peer", r.RemoteAddr)
	}
	http.SetCookie(w, d.cookie(r, "", -1))
}

func (d *Door) cookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // it is secure where there is TLS; without, browsers would not send it
		Name: cookieName, Value: value, Path: d.Path, MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: d.encrypted(r),
	}
}

// encrypted reports whether the browser speaks TLS, to us or to a proxy that we trust.
func (d *Door) encrypted(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return r.TLS != nil || err == nil && d.trusts(peer.Addr()) && r.Header.Get("X-Forwarded-Proto") == "https"
}
