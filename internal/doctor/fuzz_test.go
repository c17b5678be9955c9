package doctor

import (
	"path/filepath"
	"strings"
	"testing"
)

// A URL may hold a password: what can't be read is not shown.
func FuzzTarget(f *testing.F) {
	for _, seed := range []string{"https://crm.test/hook", "http://user:canary@crm.test:8080/?canary", "https:///", "http://[::1]:99999/", "\x7f://", "http://%zz"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, url string) {
		host, port, err := target(url)
		if err == nil && host == "" || err == nil && port == 0 && !strings.Contains(url, ":0") {
			t.Errorf("%q: host %q, port %d", url, host, port)
		}
		if len(url) > 8 && err != nil && strings.Contains(err.Error(), url) {
			t.Errorf("the error shows the URL: %v", err)
		}
	})
}

// Whatever the kernel writes, only files below its own folder are read.
func FuzzControlGroup(f *testing.F) {
	for _, seed := range []string{"0::/\n", "0::/system.slice/anabranch.service\n", "12:cpu:/a\n0::/../..\n", "", "0::", "0::relative"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := controlGroup(text)
		if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.HasPrefix(path, "/..") {
			t.Errorf("%q: %q", text, path)
		}
	})
}
