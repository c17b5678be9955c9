package driver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/sdktest/driver"
)

// folder writes the files of a driver named fake and returns the directory that
// they are below.
func folder(tb testing.TB, files map[string]string) string {
	tb.Helper()
	sources := tb.TempDir()
	put(tb, sources, files)
	return sources
}

func put(tb testing.TB, sources string, files map[string]string) {
	tb.Helper()
	for name, text := range files {
		path := filepath.Join(sources, "fake", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

func read(tb testing.TB, path string) string {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// counting leaves a line in the file installs each time it installs, and fails
// where the pins say so.
func counting() driver.Driver {
	return driver.Driver{
		Name: "fake", Folder: "fake", Needs: []string{"sh"}, Pins: []string{"pins"},
		Setup: [][]string{{"sh", "-c", "echo done >> ../installs"}, {"sh", "./pins"}},
	}
}

func TestAnSDKIsInstalledAnewWhenItsPinsChange(t *testing.T) {
	d := counting()
	sources, cache := folder(t, map[string]string{"pins": "exit 0", "src/driver.x": "one"}), t.TempDir()
	install := func(want string) string {
		t.Helper()
		copied, err := d.Install(t.Context(), sources, cache)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, filepath.Join(cache, "installs")); got != strings.Repeat("done\n", len(want)) {
			t.Errorf("installed %q times, expected %d", got, len(want))
		}
		return copied
	}
	copied := install("1")
	install("1")
	put(t, sources, map[string]string{"src/driver.x": "two"})
	install("1")
	if got := read(t, filepath.Join(copied, "src", "driver.x")); got != "two" {
		t.Errorf("the program in the cache is %q, although a newer one is there", got)
	}
	put(t, sources, map[string]string{"pins": "exit 0 # another version"})
	install("12")
	d.Setup = append(d.Setup, []string{"true"})
	install("123")
}

func TestAFailedInstallationIsNotTakenForOne(t *testing.T) {
	d := counting()
	sources, cache := folder(t, map[string]string{"pins": "echo what is wrong; exit 7"}), t.TempDir()
	for range 2 {
		_, err := d.Install(t.Context(), sources, cache)
		if err == nil || !strings.Contains(err.Error(), "install fake: sh ./pins: exit status 7: what is wrong") {
			t.Fatalf("error %v", err)
		}
	}
	if got := read(t, filepath.Join(cache, "installs")); got != "done\ndone\n" {
		t.Errorf("the second try did not begin at the beginning: %q", got)
	}
}

func TestWithoutPinsEveryFileCounts(t *testing.T) {
	d := counting()
	d.Pins = nil
	sources, cache := folder(t, map[string]string{"pins": "exit 0", "src/driver.x": "one"}), t.TempDir()
	for _, text := range []string{"one", "two"} {
		put(t, sources, map[string]string{"src/driver.x": text})
		if _, err := d.Install(t.Context(), sources, cache); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, filepath.Join(cache, "installs")); got != "done\ndone\n" {
		t.Errorf("installed %q", got)
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	d := counting()
	d.Needs = []string{"sh", "no-such-package-manager"}
	if _, err := d.Install(t.Context(), folder(t, nil), t.TempDir()); err == nil || !strings.Contains(err.Error(), "no-such-package-manager is missing") {
		t.Errorf("error %v", err)
	}
	d = counting()
	if _, err := d.Install(t.Context(), folder(t, map[string]string{"other": ""}), t.TempDir()); err == nil || !strings.Contains(err.Error(), "pins") {
		t.Errorf("error %v without the pins", err)
	}
}
