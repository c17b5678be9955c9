package browser

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestComplaints(t *testing.T) {
	const said = `[16936:16936:1121/201912.68:WARNING:media/gpu/vaapi/vaapi_wrapper.cc:1655] has been blocked by CORS policy: not of the console
[16872:16872:1121/201913.13:INFO:CONSOLE:1] "hello", source: http://localhost:9921/ (1)
[16872:16872:1121/201913.20:INFO:CONSOLE:0] "Failed to load resource: the server responded with a status of 503 (Service Unavailable)", source: http://127.0.0.1:9922/x (0)
[16872:16872:1121/201913.34:INFO:CONSOLE:0] "Access to fetch at 'http://127.0.0.1:9922/x' from origin 'http://localhost:9921' has been blocked by CORS policy: Response to preflight request doesn't pass access control check", source: http://localhost:9921/w (0)
[16872:16872:1121/201913.35:INFO:CONSOLE:1] "Uncaught Error: boom", source: http://localhost:9921/w (1)
[16872:16872:1121/201913.36:INFO:CONSOLE:1] "Uncaught (in promise) TypeError: Failed to fetch", source: http://localhost:9921/w (1)
`
	want := []string{
		`the console: 0] "Access to fetch at 'http://127.0.0.1:9922/x' from origin 'http://localhost:9921' has been blocked by CORS policy: Response to preflight request doesn't pass access control check", source: http://localhost:9921/w (0)`,
		`the console: 1] "Uncaught Error: boom", source: http://localhost:9921/w (1)`,
		`the console: 1] "Uncaught (in promise) TypeError: Failed to fetch", source: http://localhost:9921/w (1)`,
	}
	if diff := cmp.Diff(want, complaints(said)); diff != "" {
		t.Errorf("complaints (-want +got):\n%s", diff)
	}
}

func TestBrowsersAreNew(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv(partVariable, "hangs")
	var profiles []string
	for range 2 {
		c, err := launch(t.Context(), os.Args[0], "http://localhost/", io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(arguments(c.profile), "--user-data-dir="+c.profile) || filepath.Dir(c.profile) != dir {
			t.Errorf("the browser keeps what SDKs store elsewhere than in %s", c.profile)
		}
		profiles = append(profiles, c.profile)
		defer c.close()
	}
	if profiles[0] == profiles[1] {
		t.Errorf("two browsers share %s: one would send what the other has kept", profiles[0])
	}
}

func TestLaunchLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv(partVariable, "hangs")
	c, err := launch(t.Context(), os.Args[0], "http://localhost/", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := c.close(); err != nil || len(found) > 0 {
		t.Errorf("close: %q, %v", found, err)
	}
	<-c.ended
	empty(t, dir)
}

func TestLaunchOfNoBrowser(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	if _, err := launch(t.Context(), filepath.Join(dir, "none"), "http://localhost/", io.Discard); err == nil || !strings.Contains(err.Error(), "launch the browser") {
		t.Errorf("launch: %v", err)
	}
	empty(t, dir)
}

func TestLaunchEndsWithItsContext(t *testing.T) {
	t.Setenv(partVariable, "hangs")
	ctx, cancel := context.WithCancel(t.Context())
	c, err := launch(ctx, os.Args[0], "http://localhost/", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-c.ended
	if _, err := c.close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
