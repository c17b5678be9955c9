package testkit

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "text")
	if got := verdictOf(t, func(tb *spy) { Golden(tb, file, []byte("a"), true) }); got != "" {
		t.Errorf("a file just written: %s", got)
	}
	if got := verdictOf(t, func(tb *spy) { Golden(tb, file, []byte("b"), false) }); !strings.HasPrefix(got, "error: "+file) {
		t.Errorf("another text: %q", got)
	}
}
