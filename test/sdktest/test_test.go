package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/sdktest/books"
	"github.com/anabranch/anabranch/test/sdktest/driver"
	"github.com/anabranch/anabranch/test/sdktest/front"
)

// fake is a driver whose SDK is the function: it needs nothing installed.
func fake(name string, start func(context.Context, *driver.Job) error) driver.Driver {
	return driver.Driver{
		Name: name, Folder: "fake", Start: start,
		Runs: []driver.Run{{Mode: driver.Each, Faults: []front.Fault{front.Unavailable}}},
	}
}

// newTest is one without a product: its drivers have a folder to be copied.
func newTest(tb testing.TB) *test {
	tb.Helper()
	t := &test{dir: tb.TempDir(), sources: tb.TempDir(), cache: tb.TempDir(), width: 2}
	if err := os.MkdirAll(filepath.Join(t.sources, "fake"), 0o755); err != nil {
		tb.Fatal(err)
	}
	t.books = books.Open("")
	tb.Cleanup(t.books.Close)
	return t
}

func TestAnSDKThatCannotBeInstalledFailsTheTest(t *testing.T) {
	test := newTest(t)
	missing := fake("missing", nil)
	missing.Needs = []string{"no-such-package-manager"}
	trials, err := test.install(t.Context(), []driver.Driver{missing})
	if err != nil || len(trials) != 1 || trials[0].err == nil {
		t.Fatalf("trials %+v, %v", trials, err)
	}
	if err = test.installed(t.Context(), []driver.Driver{missing}); err == nil || !strings.Contains(err.Error(), "no-such-package-manager") {
		t.Errorf("installed: %v", err)
	}
	if err := test.report(trials); err == nil || !strings.Contains(err.Error(), "failed: missing/each") {
		t.Errorf("report: %v", err)
	}
}

// The SDK sends once and gives up at the first fault, as a bad one would.
func TestATrialKeepsWhatItSaw(t *testing.T) {
	test := newTest(t)
	post := func(ctx context.Context, job *driver.Job) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, job.Endpoint+"/v1/batch", strings.NewReader(`{}`))
		if err != nil {
			return err
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	trials, err := test.install(t.Context(), []driver.Driver{fake("bad", post)})
	if err != nil {
		t.Fatal(err)
	}
	trial := trials[0]
	if err := trial.speak(t.Context(), "http://127.0.0.1:1", filepath.Join(test.dir, "bad")); err != nil {
		t.Fatal(err)
	}
	if len(trial.requests) != 1 || trial.requests[0].Status != http.StatusServiceUnavailable || len(trial.injected) != 1 || trial.left != 0 {
		t.Errorf("requests %+v, injected %v, %d left", trial.requests, trial.injected, trial.left)
	}
	if _, err := os.Stat(filepath.Join(test.dir, "bad.json")); err != nil {
		t.Errorf("the scenario was not written: %v", err)
	}
	wrong := trial.judge(test.books)
	for _, want := range []string{"track-none: not sent", "bad-each-1: identify-user: delivered 0 times", "bad-each-2: identify-user: delivered 0 times"} {
		if !strings.Contains(strings.Join(wrong, "\n"), want) {
			t.Errorf("nothing is said of %q", want)
		}
	}
}
