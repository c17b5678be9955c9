package console

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/console/internal/door"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/webhook-sink/endpoints"
)

// TestHeadersOfEachAnswer: whatever is answered, a browser is told what it may do.
func TestHeadersOfEachAnswer(t *testing.T) {
	t.Parallel()
	c := newConsole(t, nil)
	requests := map[string]*http.Request{
		"nothing there":    request(t, http.MethodGet, Path+"/none", ""),
		"another method":   request(t, http.MethodDelete, Path+"/destinations", ""),
		"a redirect":       request(t, http.MethodGet, Path, ""),
		"the login":        request(t, http.MethodGet, loginPath, ""),
		"a wrong login":    request(t, http.MethodPost, loginPath, "token=x"),
		"a file":           request(t, http.MethodGet, assetURL("console.css"), ""),
		"no file":          request(t, http.MethodGet, static+"x", ""),
		"another site":     request(t, http.MethodPost, loginPath, "", "Sec-Fetch-Site", "cross-site"),
		"a broken request": request(t, http.MethodGet, Path+"/destination", ""),
	}
	for path, target := range targets(t, c) {
		requests[path] = request(t, http.MethodGet, target, "")
	}
	for name, r := range requests {
		h := serve(c, r).Header()
		for field, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
			"X-Frame-Options":         "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if h.Get(field) != want {
				t.Errorf("%s: %s is %q", name, field, h.Get(field))
			}
		}
	}
}

// TestWhoMayLook: behind a proxy on the same machine everybody looks like somebody there.
func TestWhoMayLook(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("::1/128")}
	tests := map[string]struct {
		open    bool
		token   schemas.Secret
		proxies []netip.Prefix
		peer    string
		fields  []string
		want    int
		person  string
	}{
		"this machine":                        {true, token, nil, local, nil, 200, ""},
		"this machine, by IPv6":               {true, token, nil, "[::1]:50000", nil, 200, ""},
		"elsewhere, in the open":              {true, token, nil, remote, nil, 303, ""},
		"a proxy here that says so":           {true, token, nil, local, []string{"X-Forwarded-For", "192.0.2.7"}, 303, ""},
		"one that says so in another way":     {true, token, nil, local, []string{"Via", "1.1 proxy"}, 303, ""},
		"this machine, with ADMIN_TOKEN":      {false, token, nil, local, nil, 303, ""},
		"elsewhere":                           {false, token, nil, remote, nil, 303, ""},
		"nothing is set":                      {false, "", nil, remote, nil, 403, ""},
		"nothing is set, on this machine":     {false, "", nil, local, nil, 403, ""},
		"a proxy names the person":            {false, "", proxies, remote, []string{"X-Forwarded-User", "ada"}, 200, "ada"},
		"a proxy names nobody":                {false, "", proxies, remote, nil, 303, ""},
		"a proxy names an empty person":       {false, "", proxies, remote, []string{"X-Forwarded-User", ""}, 303, ""},
		"somebody else names a person":        {false, "", proxies, "198.51.100.7:1", []string{"X-Forwarded-User", "ada"}, 303, ""},
		"this machine names a person":         {false, "", proxies, local, []string{"X-Forwarded-User", "ada"}, 303, ""},
		"a proxy's other header":              {false, "", proxies, remote, []string{"X-Forwarded-Email", "ada"}, 303, ""},
		"a name that a log would not show":    {false, "", proxies, remote, []string{"X-Forwarded-User", "a\u202eda"}, 303, ""},
		"a bearer token, which is no session": {false, token, nil, remote, []string{"Authorization", "Bearer " + token.Reveal()}, 303, ""},
	}
	for name, test := range tests {
		c := newConsole(t, func(set *Settings) { set.Open, set.Token, set.Proxies = test.open, test.token, test.proxies })
		for path, target := range targets(t, c) {
			r := request(t, http.MethodGet, target, "", test.fields...)
			r.RemoteAddr = test.peer
			w := serve(c, r)
			shown := strings.Contains(w.Body.String(), "kafka-1") || strings.Contains(w.Body.String(), "CRM")
			if w.Code != test.want || shown && test.want != 200 || !strings.Contains(w.Body.String(), test.person) {
				t.Errorf("%s: %s was answered %d, want %d", name, path, w.Code, test.want)
			}
			if w.Code == http.StatusSeeOther && w.Header().Get("Location") != loginPath+"?next="+url.QueryEscape(target) {
				t.Errorf("%s: %s leads to %s", name, path, w.Header().Get("Location"))
			}
		}
	}
	c := newConsole(t, func(set *Settings) { set.Open, set.Proxies = false, proxies })
	r := request(t, http.MethodGet, Path+"/", "")
	r.RemoteAddr = remote
	r.Header["X-Forwarded-User"] = []string{"eve", "ada"}
	if w := serve(c, r); w.Code != http.StatusSeeOther {
		t.Errorf("of two names one may be the visitor's own, and it was answered %d", w.Code)
	}
}

// enter logs in and returns the cookie.
func enter(t *testing.T, c *Console, form string, fields ...string) (*httptest.ResponseRecorder, *http.Cookie) {
	t.Helper()
	w := serve(c, request(t, http.MethodPost, loginPath, form, fields...))
	for _, cookie := range w.Result().Cookies() {
		return w, cookie
	}
	return w, nil
}

// with adds a cookie to a request.
func with(r *http.Request, cookie *http.Cookie) *http.Request {
	r.AddCookie(cookie)
	return r
}

func TestLogin(t *testing.T) {
	t.Parallel()
	var log testkit.Logs
	c := newConsole(t, func(set *Settings) { set.Open, set.Logger = false, slog.New(slog.NewTextHandler(&log, nil)) })
	w, cookie := enter(t, c, "token="+token.Reveal()+"&name=ada&next="+url.QueryEscape(Path+"/destination?id=crm"))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != Path+"/destination?id=crm" || cookie == nil {
		t.Fatalf("the login was answered %d to %s with %v", w.Code, w.Header().Get("Location"), cookie)
	}
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Secure || cookie.Path != Path+"/" || cookie.MaxAge <= 0 {
		t.Errorf("the cookie is %v", cookie)
	}
	if page := serve(c, with(request(t, http.MethodGet, Path+"/", ""), cookie)); page.Code != http.StatusOK || !strings.Contains(page.Body.String(), "ada (by token)") {
		t.Errorf("with the cookie, the page was answered %d", page.Code)
	}
	if text := log.String(); strings.Contains(text, token.Reveal()) || strings.Contains(text, cookie.Value) || !strings.Contains(text, `person="ada (by token)"`) {
		t.Errorf("the log is\n%s", text)
	}
}

// TestWrongCookies: a session is of who was given its cookie, until they log out.
func TestWrongCookies(t *testing.T) {
	t.Parallel()
	c := newConsole(t, func(set *Settings) { set.Open = false })
	_, cookie := enter(t, c, "token="+token.Reveal())
	stolen := *cookie
	stolen.Value = strings.ToLower(cookie.Value)
	for name, wrong := range map[string]*http.Cookie{
		"changed": &stolen, "empty": {Name: cookie.Name}, "another name": {Name: "session", Value: cookie.Value}, "the token": {Name: cookie.Name, Value: token.Reveal()},
	} {
		if w := serve(c, with(request(t, http.MethodGet, Path+"/", ""), wrong)); w.Code != http.StatusSeeOther {
			t.Errorf("a cookie that is %s was answered %d", name, w.Code)
		}
	}
	if w := serve(c, with(request(t, http.MethodPost, logoutPath, ""), cookie)); w.Code != http.StatusSeeOther || w.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("the logout was answered %d with %v", w.Code, w.Header())
	}
	if w := serve(c, with(request(t, http.MethodGet, Path+"/", ""), cookie)); w.Code != http.StatusSeeOther {
		t.Errorf("after the logout, the cookie was answered %d", w.Code)
	}
}

func TestWrongLogins(t *testing.T) {
	t.Parallel()
	var log testkit.Logs
	c := newConsole(t, func(set *Settings) { set.Open, set.Logger = false, slog.New(slog.NewTextHandler(&log, nil)) })
	for name, form := range map[string]string{
		"another token": "token=x", "none": "token=", "half": "token=zqAdmin", "more": "token=" + token.Reveal() + "x", "a name that turns the log around": "token=" + token.Reveal() + "&name=a%E2%80%AEb",
	} {
		if w, cookie := enter(t, c, form); w.Code < 400 || cookie != nil || strings.Contains(w.Body.String(), token.Reveal()) {
			t.Errorf("%s: answered %d with %v", name, w.Code, cookie)
		}
	}
	for range 20 {
		enter(t, c, "token=x")
	}
	if w, cookie := enter(t, c, "token="+token.Reveal()); w.Code != http.StatusTooManyRequests || cookie != nil {
		t.Errorf("tokens may be tried without an end: answered %d", w.Code)
	}
	if !strings.Contains(log.String(), "login refused") {
		t.Error("the log does not tell of wrong logins")
	}
	none := newConsole(t, func(set *Settings) { set.Open, set.Token = true, "" })
	if w, cookie := enter(t, none, "token="); cookie != nil {
		t.Errorf("without a token, an empty one logs in: %d", w.Code)
	}
}

// TestALoginThatIsTooLarge is not read, and nobody's.
func TestALoginThatIsTooLarge(t *testing.T) {
	t.Parallel()
	c := newConsole(t, nil)
	w, cookie := enter(t, c, "name=sam&token="+string(token)+"&x="+strings.Repeat("x", maxForm))
	if w.Code == http.StatusSeeOther || cookie != nil {
		t.Errorf("a form of %d bytes was answered %d and a cookie %v", maxForm, w.Code, cookie)
	}
}

// TestSecureCookie: where the browser speaks TLS, the session never travels without.
func TestSecureCookie(t *testing.T) {
	t.Parallel()
	c := newConsole(t, func(set *Settings) { set.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	if _, cookie := enter(t, c, "token="+token.Reveal(), "X-Forwarded-Proto", "https"); cookie == nil || !cookie.Secure {
		t.Errorf("behind a proxy with TLS the cookie is %v", cookie)
	}
	c = newConsole(t, nil)
	if _, cookie := enter(t, c, "token="+token.Reveal(), "X-Forwarded-Proto", "https"); cookie == nil || cookie.Secure {
		t.Errorf("by the word of anybody the cookie is %v", cookie)
	}
}

func TestASessionThatEnds(t *testing.T) {
	t.Parallel()
	c := newConsole(t, func(set *Settings) { set.Open = false })
	w := serve(c, request(t, http.MethodGet, Path+"/", "", "HX-Request", "true"))
	if w.Code != http.StatusUnauthorized || w.Header().Get("HX-Refresh") != "true" {
		t.Errorf("a page that fetches itself is answered %d with %v", w.Code, w.Header())
	}
}

// TestWhereALoginLeads: to pages of ours alone.
func TestWhereALoginLeads(t *testing.T) {
	t.Parallel()
	for wanted, want := range map[string]string{
		"":                                Path + "/",
		Path + "/":                        Path + "/",
		Path + "/destinations?q=a%2f&x=1": Path + "/destinations?q=a%2f&x=1",
		"/metrics":                        Path + "/",
		"https://evil.example/console/":   Path + "/",
		"//evil.example/console/":         Path + "/",
		"/\\evil.example":                 Path + "/",
		"/console/../metrics":             Path + "/",
		"/console//evil.example":          Path + "/",
		"/console/%2e%2e/metrics":         Path + "/",
		"javascript:alert(1)":             Path + "/",
		"/console/\r\nSet-Cookie: a=b":    Path + "/",
		loginPath:                         Path + "/",
		"\x00":                            Path + "/",
	} {
		if got := next(wanted); got != want {
			t.Errorf("%q leads to %q, want %q", wanted, got, want)
		}
	}
}

// TestForms: one of another site does nothing, whatever the browser sends with it, and ours
// works in browsers that say less.
func TestForms(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fields []string
		want   bool
	}{
		"ours":                             {[]string{"Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:8081"}, true},
		"ours, in an old browser":          {[]string{"Origin", "http://localhost:8081"}, true},
		"no browser":                       {nil, true},
		"another site":                     {[]string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, false},
		"another port":                     {[]string{"Sec-Fetch-Site", "same-site", "Origin", "http://localhost:9000"}, false},
		"another site, in an old browser":  {[]string{"Origin", "https://evil.example"}, false},
		"a frame without an origin":        {[]string{"Origin", "null"}, false},
		"another site that navigates here": {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, false},
	}
	for name, test := range tests {
		w, cookie := enter(t, newConsole(t, nil), "token="+token.Reveal(), test.fields...)
		if (cookie != nil) != test.want || !test.want && w.Code != http.StatusForbidden {
			t.Errorf("%s: answered %d with %v", name, w.Code, cookie)
		}
	}
}

// TestOtherSites can lead a person here, and neither read nor frame what is here.
func TestOtherSites(t *testing.T) {
	t.Parallel()
	c := newConsole(t, nil)
	for name, test := range map[string]struct {
		fields []string
		want   int
	}{
		"typed in":             {[]string{"Sec-Fetch-Site", "none"}, 200},
		"a link of ours":       {[]string{"Sec-Fetch-Site", "same-origin"}, 200},
		"a link elsewhere":     {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		"a frame elsewhere":    {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		"a script elsewhere":   {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script"}, 403},
		"a fetch by a sibling": {[]string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}, 403},
	} {
		for path, target := range targets(t, c) {
			w := serve(c, request(t, http.MethodGet, target, "", test.fields...))
			if w.Code != test.want || w.Code != 200 && strings.Contains(w.Body.String(), "CRM") {
				t.Errorf("%s: %s was answered %d", name, path, w.Code)
			}
		}
	}
}

// naughty are texts that have broken pages elsewhere, each with a form in which it must not
// be on the page.
func naughty() map[string]string {
	return map[string]string{
		`<script>zq(1)</script>`:             `<script>zq`,
		`"><img src=x onerror=zq(1)>`:        `<img src=x`,
		`' onmouseover='zq(1)`:               `' onmouseover='`,
		`javascript:zq(1)`:                   `href="javascript`,
		`</title></textarea><svg/onload=zq>`: `<svg/onload`,
		"{{.}}${zq}<!--":                     "<!--",
		"a\u202ezq\u2066b":                   "\u202e",
		"nul\x00zq\x1b[2J\u0085":             "\x1b",
		"\ufeff\u200bzq":                     "\u200b",
		"../../zq?x=1#y&amp;":                "/../../zq?",
		"9007199254740993zq":                 "9007199254740992",
		"\xff\xfezq":                         "\xff",
		strings.Repeat("zq", 5_000):          "zq…",
	}
}

// TestNaughtyStrings in every place that somebody else controls: nothing of them is run, and
// nothing is left out.
func TestNaughtyStrings(t *testing.T) {
	t.Parallel()
	for text, never := range naughty() {
		c := newConsole(t, func(set *Settings) {
			r := sample()
			r.Brokers = []string{text}
			r.Stages[2].Members[0].Instance, r.Stages[2].Members[0].Host = text, text
			r.Destinations[0].Failures[0].Detail = text
			r.Destinations[0].Endpoints[0].URL = text
			r.DeadLetters.Groups[0].Destination, r.DeadLetters.Groups[0].Detail = text, text
			r.Advice = []status.Advice{{About: text, Problem: text, Do: text}}
			set.Questions = questionsAbout(text)
			set.Answers = bookAbout(text)
			set.Endpoints = func(*workspace.Destination) []endpoints.Endpoint {
				return []endpoints.Endpoint{{Position: 1, URL: text, State: endpoints.Down, Why: text, Detail: text}}
			}
			set.Questions.Status = func(context.Context, func(string)) (*status.Report, error) { return r, nil }
			buyers := workspace.Audience{Audience: sampleAudience("7d"), Edition: workspace.Edition{Version: 2, Earlier: []workspace.Earlier{{Version: 1, Definition: sampleJSON("1d")}}}}
			buyers.Name = text
			set.Workspace = workspace.NewLive((&workspace.Document{
				Sources: []workspace.Source{{ID: "s", Name: text, Enabled: true}}, // as a record of an earlier release may have it
				Destinations: []workspace.Destination{{
					ID: "crm", Name: text, Type: workspace.TypeWebhooks, Enabled: true, Sources: []string{text},
					Endpoints: []workspace.Endpoint{{URL: crmURL, Headers: []workspace.Header{{Name: text, Value: "zqHeader"}}}},
				}},
				Audiences: []workspace.Audience{buyers},
			}).Snapshot())
		})
		pages := map[string]*http.Request{
			"the login":        request(t, http.MethodGet, loginPath+"?next="+url.QueryEscape(Path+"/?a="+text), ""),
			"a wrong login":    request(t, http.MethodPost, loginPath, "token=x&name="+url.QueryEscape(text)),
			"a search":         request(t, http.MethodGet, Path+"/destinations?q="+url.QueryEscape(text), ""),
			"events of a user": request(t, http.MethodGet, Path+"/events?user="+url.QueryEscape(text), ""),
			"an event":         request(t, http.MethodGet, Path+"/event?id="+url.QueryEscape(text)+"&user="+url.QueryEscape(text), ""),
			"dead letters":     request(t, http.MethodGet, Path+"/dead-letters?q="+url.QueryEscape(text), ""),
			"a destination's":  request(t, http.MethodGet, Path+"/dead-letters?destination="+url.QueryEscape(text), ""),
			"a redrive":        request(t, http.MethodGet, Path+"/redrive?destination="+url.QueryEscape(text), ""),
			"calls":            request(t, http.MethodGet, Path+"/live?q="+url.QueryEscape(text), ""),
			"a user":           request(t, http.MethodGet, Path+"/profile?user="+url.QueryEscape(text), ""),
			"no audience":      request(t, http.MethodGet, Path+"/persona?key="+url.QueryEscape(text), ""),
			"no definition":    request(t, http.MethodGet, Path+"/preview?written="+url.QueryEscape(text), ""),
			"no choice":        request(t, http.MethodGet, Path+"/events?last="+url.QueryEscape(text), ""),
			"no dead letter":   request(t, http.MethodGet, Path+"/dead-letter?id="+url.QueryEscape(text), ""),
			"no destination":   request(t, http.MethodGet, Path+"/destination?id="+url.QueryEscape(text), ""),
		}
		for path, target := range targets(t, c) {
			pages[path] = request(t, http.MethodGet, target, "")
		}
		for name, r := range pages {
			w := serve(c, r)
			page := w.Body.String()
			if strings.Contains(page, never) || !strings.Contains(page, "</html>") {
				t.Errorf("%s with %.40q was answered %d with %q in it", name, text, w.Code, never)
			}
			if strings.HasPrefix(text, "zqzq") && name != "a wrong login" && strings.Contains(page, "zqzq") && strings.Count(page, "zqzq") < 2_500 {
				t.Errorf("%s is cut", name)
			}
		}
		for _, target := range []string{"/", "/destination?id=crm"} {
			if page := look(t, c, Path+target); !strings.Contains(page, "zq") {
				t.Errorf("%.40q is not shown at all on %s", text, target)
			}
		}
	}
}

// TestAFieldHoldsWhatItDid: what nobody sees stays in it.
func TestAFieldHoldsWhatItDid(t *testing.T) {
	t.Parallel()
	if got, want := string(exactValue("a\u202e\"'<é")), `value="a&#x202e;&#x22;&#x27;&#x3c;&#xe9;"`; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	c := newConsole(t, nil)
	for path, target := range targets(t, c) {
		page := look(t, c, target)
		for _, secret := range []string{"zqShared", "zqPassword", "zqQuery", "zqHeader", token.Reveal()} {
			if strings.Contains(page, secret) {
				t.Errorf("%s shows %s", path, secret)
			}
		}
	}
}

// TestThePolicyIsStrict: what it allows comes from here.
func TestThePolicyIsStrict(t *testing.T) {
	t.Parallel()
	for _, loose := range []string{"unsafe", "http:", "https:", "*", "data:", "nonce"} {
		if policy := door.Policy; strings.Contains(policy, loose) {
			t.Errorf("the policy has %s", loose)
		}
	}
}
