package pipeline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace/wsfile"
)

func TestWorkspaceIsOneThatTheProductReads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	if err := os.WriteFile(file, []byte(workspaceFile([]string{"node-batch", "go3-each"}, "http://127.0.0.1:1")), 0o600); err != nil {
		t.Fatal(err)
	}
	snapshot, err := wsfile.Load(file, wsfile.SystemLookup())
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"node-batch", "go3-each"} {
		listeners := snapshot.Listeners(source)
		if len(listeners) != webhooks {
			t.Fatalf("%s has %d listeners", source, len(listeners))
		}
		for i, name := range Destinations(source) {
			d := listeners[i]
			if d.ID != name || d.Endpoints[0].URL != "http://127.0.0.1:1/"+name || d.SharedSecret.Reveal() != Secret || d.IntegrationName() != "Webhooks" {
				t.Errorf("%s: %+v", name, d)
			}
		}
	}
}
