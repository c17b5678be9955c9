package consoletest

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// What all tests look at.
var (
	program   string // the product's
	anabranch *product
	browser   context.Context
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

// run returns the exit status.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "anabranch-console-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	stop, err := prepare(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := 1
	if err = anabranch.fill(); err == nil {
		var leave context.CancelFunc
		browser, leave = launch() //nolint:fatcontext // one for all tests
		// The browser is that of its first tab.
		if err = chromedp.Do(browser, chromedp.Navigate("about:blank")); err == nil {
			code = m.Run()
		}
		leave()
	}
	for _, err := range []error{err, stop()} {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
}

// prepare builds the product and starts it with the workspace whose texts have broken pages
// elsewhere.
func prepare(dir string) (stop func() error, err error) {
	if program, err = compile(dir); err != nil {
		return nil, err
	}
	anabranch = newProduct(byPath)
	file := filepath.Join(dir, "workspace.yaml")
	if err = os.WriteFile(file, workspace(anabranch.receiver.URL), 0o600); err != nil {
		return nil, err
	}
	return anabranch.start(dir, "WORKSPACE_FILE="+file)
}

// pages finds one address of each page, by following links from the overview and from
// searches; of destinations, dead letters and events all that are led to.
func pages(t *testing.T) []string {
	t.Helper()
	b := open(t)
	user := url.QueryEscape(naughty[0])
	queue := []string{
		"/console/", "/console/login", "/console/events?user=" + user, "/console/dead-letters?q=zq", "/console/destinations?q=zq", "/console/check?run=1",
		"/console/workspace/history?waits=1", "/console/resync?key=orders&destination=crm", "/console/preview?written=%5B%5D", "/console/explain?key=orders&user=" + user, "/console/profile?user=" + user,
	}
	of := make(map[string][]string)
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		path, _, _ := strings.Cut(next, "?")
		if slices.Contains(of[path], next) || len(of[path]) >= 2 {
			continue
		}
		of[path] = append(of[path], next)
		b.visit(next)
		queue = append(queue, b.links()...)
	}
	for _, want := range []string{"/console/destination", "/console/event", "/console/dead-letter", "/console/workspace", "/console/workspace/plan", "/console/workspace/history", "/console/violations", "/console/growth", "/console/deletions", "/console/call", "/console/persona", "/console/history", "/console/members", "/console/check"} {
		if len(of[want]) == 0 {
			t.Errorf("no link leads to %s", want)
		}
	}
	return slices.Concat(slices.Collect(maps.Values(of))...)
}

// TestEveryPage: no script of a caller is run, nothing violates the policy, and everybody can
// read and use it, without script too.
func TestEveryPage(t *testing.T) {
	all := pages(t)
	slices.Sort(all)
	for _, address := range all {
		t.Run(address, func(t *testing.T) {
			b := open(t)
			b.width(1280)
			b.visit(address)
			b.accessible()
			b.narrow()
			b.bare(address)
			b.reachable()
		})
	}
}

// TestWithoutScript: a list that is followed with it has the newest, and a search is one. What
// holds of every page is in TestEveryPage.
func TestWithoutScript(t *testing.T) {
	b := open(t)
	b.scripts(false)
	b.visit("/console/live?user=" + url.QueryEscape(naughty[9]))
	if shown := b.shows(5); len(shown) < 2 || shown[0] != naughty[9] || eval[bool](b, `!document.querySelector("#live-off").checkVisibility() || document.querySelector("#live-follow").checkVisibility()`) {
		t.Errorf("the newest calls of %q are %q", naughty[9], shown)
	}
	b.visit("/console/destinations")
	b.do(chromedp.SendKeys(chromedp.CSS("#q"), "gone\r"))
	b.wait(`location.search.includes("q=gone") && document.querySelector("#d-gone") && !document.querySelector("#d-crm")`)
}

// TestByKeyboard: from the overview to why an event died, without a mouse.
func TestByKeyboard(t *testing.T) {
	b := open(t)
	b.visit("/console/")
	b.press("\t\r") // the link that skips the navigation
	if at := eval[string](b, "document.activeElement.id"); at != "main" {
		t.Errorf("the first link leads to %q, want the content", at)
	}
	b.focus(`a[href="/console/events"]`)
	b.press("\r")
	b.wait(`location.pathname === "/console/events" && ` + settled)
	b.focus(`#user`)
	b.press(naughty[9] + "\r")
	b.wait(`document.querySelector("td.number") && ` + settled)
	b.focus(`main th a`)
	b.press("\r")
	b.wait(`location.pathname === "/console/event" && ` + settled)
	b.focus(`a[href^="/console/dead-letter?"]`)
	b.press("\r")
	b.wait(`location.pathname === "/console/dead-letter" && ` + settled)
	if text := eval[string](b, `document.querySelector("main").innerText`); !strings.Contains(text, naughty[9]) || !strings.Contains(text, "410") {
		t.Errorf("the dead letter does not say what died and why: %s", text)
	}
}

// focus presses Tab until a selector is focused.
func (b *tab) focus(selector string) {
	b.Helper()
	for range 200 {
		if eval[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
		b.press("\t")
	}
	b.Fatalf("the Tab key does not lead to %s", selector)
}

// TestWhatCallersSentIsExact: a number beyond 2^53 keeps the digits that it is stored with, and
// a text its characters.
func TestWhatCallersSentIsExact(t *testing.T) {
	b := open(t)
	b.visit("/console/dead-letters?destination=gone&q=" + url.QueryEscape("m9 Zo"))
	b.visit(eval[string](b, `document.querySelector('a[href^="/console/dead-letter?"]').getAttribute("href")`))
	if letter := eval[string](b, `document.querySelector("main").innerText`); !strings.Contains(letter, `"n": `+large) {
		t.Errorf("the dead letter does not have the number that was sent: %s", letter)
	}
	for _, text := range []string{naughty[0], naughty[1], naughty[8], naughty[9], naughty[10]} {
		b.visit("/console/events?user=" + url.QueryEscape(text))
		shown := eval[[]string](b, `[...document.querySelectorAll("td")].map(e => e.textContent)`)
		if !slices.Contains(shown, text) {
			t.Errorf("events of %q are not shown as theirs: %q", text, shown)
		}
	}
}

// TestTheFirstPage is small and quick, of a browser that has nothing of it. Others use this
// machine too, so the quickest of many looks counts.
func TestTheFirstPage(t *testing.T) {
	const most, looks = 300, 40
	b := open(t)
	order(b, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	best := math.Inf(1)
	for look := 0; best > most && look < looks; look++ {
		b.mu.Lock()
		b.bytes = 0
		b.mu.Unlock()
		b.visit("/console/")
		b.mu.Lock()
		if b.bytes > 100_000 || b.bytes < 10_000 {
			t.Errorf("the first page is %.0f bytes, want at most 100,000", b.bytes)
		}
		b.mu.Unlock()
		best = min(best, eval[float64](b, `performance.getEntriesByType("navigation")[0].loadEventEnd`))
	}
	if best > most || best <= 0 {
		t.Errorf("the first page takes %.0f ms, want at most %d", best, most)
	}
}

// elsewhere serves a page of another site.
func elsewhere(t *testing.T, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestFramesElsewhere: no page of another port or site shows the console in its midst.
func TestFramesElsewhere(t *testing.T) {
	frame := elsewhere(t, `<!doctype html><iframe src="`+anabranch.console+`"></iframe>`)
	for _, address := range []string{frame, strings.Replace(frame, "127.0.0.1", "localhost", 1)} {
		b := open(t)
		failed := make(chan string, 10)
		b.call("listen", chromedp.Listen(b.ctx, func(event any) {
			if e, ok := event.(*network.EventResponseReceived); ok && strings.HasPrefix(e.Response.URL, anabranch.console) {
				failed <- strconv.FormatInt(e.Response.Status, 10)
			}
		}))
		b.do(chromedp.Navigate(address))
		b.wait(`document.readyState === "complete"`)
		select {
		case status := <-failed:
			if status != "403" {
				t.Errorf("in a frame of %s the console was answered %s", address, status)
			}
		default: // the browser has refused to show it
		}
		b.mu.Lock()
		b.amiss = nil // that a frame was refused is what the browser reports
		b.mu.Unlock()
	}
}

// TestFormsElsewhere: what another site has the browser post does nothing.
func TestFormsElsewhere(t *testing.T) {
	login := anabranch.console + "login"
	form := elsewhere(t, `<!doctype html><form method="post" action="`+login+`"><input name="token" value="`+anabranch.token+`"><button>x</button></form>`)
	for _, address := range []string{form, strings.Replace(form, "127.0.0.1", "localhost", 1)} {
		b := open(t)
		b.do(chromedp.Navigate(address))
		b.do(chromedp.Click(chromedp.CSS("button")))
		b.wait(`location.pathname === "/console/login"`)
		if status := b.status(login); status != http.StatusForbidden {
			t.Errorf("a form of %s was answered %d", address, status)
		}
		cookies, err := chromedp.Call(b.ctx, network.GetCookies, network.GetCookiesParams{})
		b.call("cookies", err)
		if len(cookies.Cookies) > 0 {
			t.Errorf("a form of %s has logged in", address)
		}
	}
}
