package consoletest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a page may take to come to what a test waits for.
const patience = time.Minute

// launch starts a browser that has never been used.
func launch() (context.Context, context.CancelFunc) {
	ctx, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.Headless, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.DisableGPU,
		// Root and most containers have none to offer, and the pages are ours.
		chromedp.NoSandbox,
		chromedp.Env("TMPDIR="+os.TempDir()),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-extensions", true),
		chromedp.Flag("no-proxy-server", true), chromedp.Flag("hide-scrollbars", false),
	)
	ctx, leave := chromedp.NewContext(ctx)
	return ctx, func() { leave(); stop() }
}

// tab is a page of a person who has not been here before.
type tab struct {
	*testing.T

	of  *product        // whose pages it shows
	ctx context.Context //nolint:containedctx // the library's handle of the tab

	mu      sync.Mutex
	amiss   []string
	answers map[string]int64 // status by address
	bytes   float64          // that came over the network
}

// open returns a tab for the pages of the product that all tests look at.
func open(t *testing.T) *tab {
	t.Helper()
	return anabranch.open(t)
}

// open returns a tab. Its test fails when a script that came with a call is run, a page's own
// one fails, or the policy of a page is violated.
func (p *product) open(t *testing.T) *tab {
	t.Helper()
	ctx, leave := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	ctx, cancel := context.WithTimeout(ctx, 5*patience)
	b := &tab{T: t, of: p, ctx: ctx, answers: make(map[string]int64)}
	t.Cleanup(func() {
		cancel()
		leave()
		b.calm()
	})
	b.call("listen", chromedp.Listen(ctx, b.hear))
	order(b, audits.Enable, cdp.Empty{})
	order(b, network.Enable, network.EnableParams{})
	order(b, runtime.AddBinding, runtime.AddBindingParams{Name: "zq"})
	return b
}

// order gives the browser a command.
func order[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.Helper()
	_, err := chromedp.Call(b.ctx, command, params)
	b.call(command.Method, err)
}

func (b *tab) call(what string, err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

// hear notes what the browser tells of the page.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventBindingCalled:
		if e.Name == "zq" {
			b.amiss = append(b.amiss, "a script of a caller was run: "+e.Payload)
		}
	case *runtime.EventExceptionThrown:
		text, _ := json.Marshal(e.ExceptionDetails)
		b.amiss = append(b.amiss, "a script failed: "+string(text))
	case *page.EventJavascriptDialogOpening:
		b.amiss = append(b.amiss, "a dialog: "+e.Message)
	case *audits.EventIssueAdded:
		if d := e.Issue.Details; d != nil && d.ContentSecurityPolicyIssueDetails != nil {
			text, _ := json.Marshal(d.ContentSecurityPolicyIssueDetails)
			b.amiss = append(b.amiss, "the policy was violated: "+string(text))
		}
	case *network.EventResponseReceived:
		b.answers[e.Response.URL] = e.Response.Status
	case *network.EventLoadingFinished:
		b.bytes += e.EncodedDataLength
	}
}

// calm reports what was amiss so far.
func (b *tab) calm() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.amiss {
		b.Error(text)
	}
	b.amiss = nil
}

// status is what an address was answered; 0: nothing.
func (b *tab) status(address string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.answers[address]
}

// do takes steps, in order.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	b.call("a step", chromedp.Do(ctx, steps...))
}

// eval returns what an expression, or the promise that it is, comes to in the page.
func eval[R any](b *tab, expression string) R {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[R](expression, chromedp.EvalAwaitPromise))
	b.call(fmt.Sprintf("%.200s", expression), err)
	return value
}

// wait returns once an expression is true of the page.
func (b *tab) wait(expression string) {
	b.Helper()
	until(b.T, expression, func() bool {
		// A page that is being left has no answer.
		met, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		return err == nil && met
	})
}

// settled is true of a page that has its answer. It may be asking for a newer one.
const settled = `document.readyState === "complete" && (!document.querySelector(".asking") || !!document.querySelector(".asof"))`

// visit opens an address below the console's and returns once the page has its answer.
func (b *tab) visit(address string) {
	b.Helper()
	base, err := url.Parse(b.of.console)
	b.call("address", err)
	full, err := base.Parse(address)
	b.call("address", err)
	b.do(chromedp.Navigate(full.String()))
	b.wait(settled)
	if status := b.status(full.String()); status != 200 {
		b.Errorf("%s was answered %d", full, status)
	}
}

// scripts switches those of pages on or off.
func (b *tab) scripts(on bool) {
	b.Helper()
	order(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// scheme is light or dark.
func (b *tab) scheme(name string) {
	b.Helper()
	order(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
}

// width sets that of the window, in CSS pixels.
func (b *tab) width(pixels int64) {
	b.Helper()
	b.do(chromedp.EmulateViewport(pixels, 800))
}

// press types keys; \t and \r are Tab and Enter.
func (b *tab) press(keys string) {
	b.Helper()
	b.do(chromedp.KeyEvent(keys))
}
