package command

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/app/settings"
)

// TestApplyValidatesBeforeItConnects: whoever only wants to know whether a file is
// right needs no broker.
func TestApplyValidatesBeforeItConnects(t *testing.T) {
	t.Parallel()
	cfg, err := settings.Load(map[string]string{"KAFKA_BROKERS": "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	applied := func(text string, dryRun bool) (string, error) {
		t.Helper()
		if writeErr := os.WriteFile(file, []byte(text), 0o600); writeErr != nil {
			t.Fatal(writeErr)
		}
		var out bytes.Buffer
		applyErr := Apply(t.Context(), settings.Process{Config: cfg, Log: slog.New(slog.DiscardHandler), Out: &out}, file, dryRun)
		return out.String(), applyErr
	}
	if _, err = applied("sources: 5\n", false); err == nil || !strings.Contains(err.Error(), "workspace.yaml:1: sources") {
		t.Errorf("apply of a broken file: %v, want its line", err)
	}
	out, err := applied("sources:\n  - {id: books, name: Books, writeKey: wk_books}\ndestinations: []\n", true)
	if err != nil || !strings.Contains(out, "is valid") || !strings.Contains(out, "not known") {
		t.Errorf("dry run without a broker: %v, printed %q, want that it only validated", err, out)
	}
}
