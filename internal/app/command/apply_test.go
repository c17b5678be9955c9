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
	cfg, err := settings.Load(map[string]string{"KAFKA_BROKERS": "127.0.0.1:1"}, stages)
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
		applyErr := Apply(t.Context(), settings.Process{Config: cfg, Log: slog.New(slog.DiscardHandler), Out: &out}, file, Applying{DryRun: dryRun})
		return out.String(), applyErr
	}
	if _, err = applied("sources: 5\n", false); err == nil || !strings.Contains(err.Error(), "workspace.yaml:1: sources") {
		t.Errorf("apply of a broken file: %v, want its line", err)
	}
	out, err := applied("sources: []\ndestinations:\n  - {id: crm, type: webhooks, name: CRM, sources: [], endpoints: [{url: 'http://u:zq@10.0.0.5/?zq'}, {url: 'http://localhost:9/'}, {url: 'https://1.1.1.1/'}]}\n", true)
	for _, want := range []string{"WEBHOOK_SINK_ALLOW_NETWORKS=10.0.0.5/32", "WEBHOOK_SINK_ALLOW_NETWORKS=127.0.0.1/32"} {
		if err != nil || !strings.Contains(out, "warning: destination crm: http://") || !strings.Contains(out, want) || strings.Contains(out, "zq") || strings.Contains(out, "1.1.1.1") {
			t.Errorf("apply of private addresses: %v, printed %q, want %s and no secret", err, out, want)
		}
	}
	out, err = applied("sources:\n  - {id: books, name: Books, writeKey: wk_books}\ndestinations: []\n", true)
	if err != nil || !strings.Contains(out, "is valid") || !strings.Contains(out, "not known") {
		t.Errorf("dry run without a broker: %v, printed %q, want that it only validated", err, out)
	}
}
