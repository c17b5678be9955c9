package consoletest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// axeVersion is that of axe-core, from npm.
const axeVersion = "4.14.1"

// axe returns the script, which is installed once.
var axe = sync.OnceValues(func() (string, error) {
	dir, err := filepath.Abs("../../.sdk/axe-core-" + axeVersion)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "node_modules", "axe-core", "axe.min.js")
	if _, err = os.Stat(file); err != nil {
		install := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir, "axe-core@"+axeVersion)
		if out, failed := install.CombinedOutput(); failed != nil {
			return "", fmt.Errorf("install axe-core: %w\n%s", failed, out)
		}
	}
	script, err := os.ReadFile(file)
	return string(script), err
})

// rules are those of WCAG 2.2, levels A and AA.
const rules = `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]`

// accessible has axe-core look at the page in both of its schemes.
func (b *tab) accessible() {
	b.Helper()
	script, err := axe()
	b.call("axe-core", err)
	for _, scheme := range []string{"light", "dark"} {
		b.scheme(scheme)
		found := eval[[]string](b, script+`;
			axe.run(document, {runOnly: {type: "tag", values: `+rules+`}, preload: false, resultTypes: ["violations"]}).then(r => {
				if (r.passes.length < 5) throw new Error("axe-core has not looked");
				return r.violations.flatMap(v => v.nodes.map(n => v.id + " at " + n.target.join(" ") + ": " + n.failureSummary));
			})`)
		for _, f := range found {
			b.Errorf("%s, %s: %s", eval[string](b, "location.pathname + location.search"), scheme, f)
		}
	}
}

// narrow has the page shown 360 pixels wide, where it is read by scrolling downwards alone.
func (b *tab) narrow() {
	b.Helper()
	b.width(360)
	defer b.width(1280)
	if width := eval[int](b, "document.documentElement.scrollWidth"); width > 360 {
		wide := eval[[]string](b, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > 361 && !e.closest(".scroll, .skip, .unseen")).map(e => e.outerHTML.slice(0, 120))`)
		b.Errorf("%s is %d pixels wide on a screen of 360: %q", eval[string](b, "location.pathname"), width, wide)
	}
}

// bare has the page shown once more without script, where it has the same forms.
func (b *tab) bare(address string) {
	b.Helper()
	const forms = `[document.querySelector("h1").innerText, ...[...document.querySelectorAll("main form")].map(f => f.method + " " + f.action)].join("\n")`
	with := eval[string](b, forms)
	b.scripts(false)
	b.visit(address)
	if without := eval[string](b, forms); without != with {
		b.Errorf("without script %s has\n%s\nwith it\n%s", address, without, with)
	}
	if text := eval[string](b, `document.querySelector("main").innerText`); len(text) < 60 {
		b.Errorf("without script %s shows only %q", address, text)
	}
	b.scripts(true)
}

// reachable goes through the page with the Tab key: it comes to all that can be used, in
// order, and shows where it is. The tab has no scripts afterwards.
func (b *tab) reachable() {
	b.Helper()
	// Without its scripts, which would bring in another in the midst of it.
	order(b, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{{URLPattern: "*://*:*/*.js", Block: true}}})
	address := eval[string](b, "location.href")
	until(b.T, "without its scripts, the page to have its answer", func() bool {
		b.do(chromedp.Navigate(address))
		return eval[bool](b, settled)
	})
	names := eval[[]string](b, `(() => {
		const usable = 'a[href], button, input:not([type="hidden"]), select, textarea, summary, [tabindex="0"]';
		window.zqUsable = [...document.querySelectorAll(usable)].filter(e => !e.disabled && e.checkVisibility({visibilityProperty: true}));
		document.activeElement.blur();
		return window.zqUsable.map(e => e.outerHTML.slice(0, 120));
	})()`)
	if len(names) < 3 {
		b.Fatalf("%s has only %q to use", eval[string](b, "location.pathname"), names)
	}
	for want, name := range names {
		b.press("\t")
		var at struct {
			Index   int    `json:"index"`
			Visible bool   `json:"visible"`
			Element string `json:"element"`
		}
		b.call("the focus", json.Unmarshal([]byte(eval[string](b, `(() => {
			const e = document.activeElement, s = getComputedStyle(e);
			return JSON.stringify({index: window.zqUsable.indexOf(e), visible: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2, element: e.outerHTML.slice(0, 120)});
		})()`)), &at))
		switch {
		case at.Index != want:
			b.Errorf("%s: the Tab key leads to %s, want %s", eval[string](b, "location.pathname"), at.Element, name)
			return
		case !at.Visible:
			b.Errorf("%s: nobody sees the focus on %s", eval[string](b, "location.pathname"), at.Element)
		}
	}
}

// links are the addresses below the console that the page leads to, without those of files.
func (b *tab) links() []string {
	b.Helper()
	var pages []string
	for _, link := range eval[[]string](b, `[...document.querySelectorAll("a[href]")].map(a => a.getAttribute("href"))`) {
		switch {
		case strings.HasPrefix(link, "/console/"):
			pages = append(pages, link)
		case !strings.HasPrefix(link, "#"):
			b.Errorf("%s leads to %s", eval[string](b, "location.pathname"), link)
		}
	}
	return pages
}
