package browser

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/sdktest/driver"
	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

// open opens the pages for a driver whose folder holds a page.js. The context ends
// with what the pages failed of.
func open(t *testing.T, p *pages) context.Context {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "page.js"), []byte("export {}"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, fail := context.WithCancelCause(t.Context())
	p.fail = fail
	if err := openPages(p, folder); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return ctx
}

func fetch(t *testing.T, p *pages, path string) (int, string) {
	t.Helper()
	resp, err := http.Get(p.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestPagesServe(t *testing.T) {
	p := &pages{}
	open(t, p)
	for path, want := range map[string]string{
		"/":            "open('/visit.html",
		"/visit.html":  `src="/visit.js"`,
		"/visit.js":    "import('/sdk/page.js')",
		"/bye.html":    "Bye",
		"/sdk/page.js": "export {}",
	} {
		if status, text := fetch(t, p, path); status != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d %q, expected it to hold %q", path, status, text, want)
		}
	}
	if status, _ := fetch(t, p, "/sdk/missing.js"); status != http.StatusNotFound {
		t.Errorf("a file that the SDK lacks: %d", status)
	}
}

func TestPagesAreOfAnotherOrigin(t *testing.T) {
	p := &pages{}
	open(t, p)
	site, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	api, err := url.Parse(behind(t, false, status).url())
	if err != nil {
		t.Fatal(err)
	}
	if site.Hostname() == api.Hostname() {
		t.Errorf("pages at %s and API at %s have one host, and share its cookies", site, api)
	}
}

func TestPagesTellTheJob(t *testing.T) {
	want := brief{
		SDK: "@vendor/sdk", Endpoint: "http://127.0.0.1:1", WriteKey: "k", Mode: driver.Each, Tag: "close",
		Calls: []scenario.Call{{Mark: "a", Type: "track", Event: "Größe", UserID: "u"}},
		Last:  []scenario.Call{{Mark: "b", Type: "alias", PreviousID: "b"}},
	}
	p := &pages{brief: want}
	open(t, p)
	var got brief
	if err := (visitor{p.url}).get("/job.json", &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("job (-want +got):\n%s", diff)
	}
}

func TestPagesSettle(t *testing.T) {
	p := &pages{settled: func(_ context.Context, n int) error {
		if n != 7 {
			return errors.New("wait for the calls a, b: too late")
		}
		return nil
	}}
	open(t, p)
	if status, _ := fetch(t, p, "/settled?calls=7"); status != http.StatusOK {
		t.Errorf("settled: %d", status)
	}
	if status, text := fetch(t, p, "/settled?calls=8"); status == http.StatusOK || !strings.Contains(text, "the calls a, b") {
		t.Errorf("not settled: %d %q, expected the page to hear what is missing", status, text)
	}
	if status, _ := fetch(t, p, "/settled?calls=many"); status == http.StatusOK {
		t.Error("a count that is none: the page was told that all is well")
	}
}

func TestPagesHearOfTheEnd(t *testing.T) {
	p := &pages{}
	open(t, p)
	v := visitor{p.url}
	for range 2 { // a page may say it twice
		if err := v.post("/left", ""); err != nil {
			t.Fatal(err)
		}
	}
	<-p.left
}

func TestPagesHearOfTrouble(t *testing.T) {
	p := &pages{}
	ctx := open(t, p)
	if err := (visitor{p.url}).post("/trouble", "SDK is not defined"); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if err := context.Cause(ctx); !strings.Contains(err.Error(), "the page: SDK is not defined") {
		t.Errorf("trouble: %v", err)
	}
}
