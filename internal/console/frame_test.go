package console

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
)

// TestVendoredScripts holds them to what the registry has under these versions.
func TestVendoredScripts(t *testing.T) {
	t.Parallel()
	sums := map[string]string{
		"htmx.min.js": "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717", // htmx.org 2.0.11
	}
	for name, a := range assets {
		sum := sha256.Sum256(a.content)
		if strings.HasSuffix(name, ".min.js") && hex.EncodeToString(sum[:]) != sums[name] {
			t.Errorf("%s is not the one that was vendored", name)
		}
	}
	notice := string(assets["LICENSES.txt"].content)
	for name := range sums {
		if assets[name].content == nil || !strings.Contains(notice, name) {
			t.Errorf("%s or its licence is not there", name)
		}
	}
}

// TestTheFirstPageIsSmall, with all that a browser loads for it.
func TestTheFirstPageIsSmall(t *testing.T) {
	t.Parallel()
	size := len(look(t, newConsole(t, nil), Path+"/"))
	for _, name := range []string{"console.css", "htmx.min.js", "icon.svg"} {
		size += len(assets[name].content)
	}
	if size > 100_000 {
		t.Errorf("it takes %d bytes, of 100,000", size)
	}
}

// TestTemplates: nothing in them asks for what the policy forbids, and the frame writes no
// character that would be shown as an escape.
func TestTemplates(t *testing.T) {
	t.Parallel()
	files, err := templateFiles.ReadDir("templates")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := templateFiles.ReadFile("templates/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, never := range []string{"\t", " style=", "<style", " onclick", " onload", "hx-on", "javascript:", "data:", "http://", "https://"} {
			if strings.Contains(string(text), never) {
				t.Errorf("%s has %q", f.Name(), never)
			}
		}
	}
	c := newConsole(t, nil)
	for path, target := range targets(t, c) {
		if page := look(t, c, target); strings.Contains(page, `\u00`) || !strings.Contains(page, "</html>") {
			t.Errorf("%s is shown with escapes, or not to its end", path)
		}
	}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	c := newConsole(t, func(set *Settings) { set.Open = false })
	for name, a := range assets {
		w := serve(c, request(t, http.MethodGet, assetURL(name), ""))
		if w.Code != http.StatusOK || w.Body.Len() != len(a.content) || w.Header().Get("Content-Type") == "" || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s was answered %d with %v", name, w.Code, w.Header())
		}
	}
	for _, target := range []string{static, static + "none.js", static + "../templates/frame.html", static + "%2e%2e/frame.html"} {
		if w := serve(c, request(t, http.MethodGet, target, "")); w.Code == http.StatusOK {
			t.Errorf("%s was answered %d", target, w.Code)
		}
	}
	if w := serve(c, request(t, http.MethodGet, static+"console.css?v=old", "")); w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("a file of another version is kept: %v", w.Header())
	}
}
