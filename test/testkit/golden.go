package testkit

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Golden compares text with what a file holds. With update it is written to the file
// first: each package has a flag of its own for that.
func Golden(tb testing.TB, file string, got []byte, update bool) {
	tb.Helper()
	if update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	want, err := os.ReadFile(file) //nolint:gosec // a test names it
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
