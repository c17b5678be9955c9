package analyticshttp

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/anabranch/anabranch/analytics"
)

type key struct{}

// Middleware keeps what a request says of its sender in the request's context, for
// [Enrich].
func Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, describe(r))))
	})
}

// Enrich adds what [Middleware] has kept to the context of a call: "ip", "userAgent",
// "locale" and "page", which has "path", "url" and "referrer". It is for
// [analytics.WithBeforeEnqueue]. Members that the call has itself stay.
//
// The address is that of the connection. Behind a proxy, have a handler before
// Middleware set the request's RemoteAddr to the one that the proxy is trusted to give.
// Queries are left out of URLs, since they may hold secrets.
func Enrich(ctx context.Context, call analytics.Call) analytics.Call {
	return analytics.AddContext(call, FromContext(ctx))
}

// FromContext returns what [Enrich] adds for a context, or nil when that is not one of a
// request. It must not be changed.
func FromContext(ctx context.Context) map[string]any {
	described, _ := ctx.Value(key{}).(map[string]any)
	return described
}

func describe(r *http.Request) map[string]any {
	described := map[string]any{}
	set := func(m map[string]any, name, value string) {
		if value != "" {
			m[name] = value
		}
	}
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		ip = r.RemoteAddr // a handler has set it to an address alone
	}
	set(described, "ip", ip)
	set(described, "userAgent", r.UserAgent())
	locale, _, _ := strings.Cut(r.Header.Get("Accept-Language"), ",")
	locale, _, _ = strings.Cut(locale, ";")
	set(described, "locale", strings.TrimSpace(locale))
	page := map[string]any{}
	set(page, "path", r.URL.Path)
	set(page, "url", pageURL(r))
	if referrer, err := url.Parse(r.Referer()); err == nil {
		set(page, "referrer", withoutQuery(*referrer))
	}
	described["page"] = page
	return described
}

func pageURL(r *http.Request) string {
	u := *r.URL
	u.Host = r.Host
	if u.Scheme = "http"; r.TLS != nil {
		u.Scheme = "https"
	}
	return withoutQuery(u)
}

func withoutQuery(u url.URL) string {
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
