package app

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

const exportedWorkspace = `sources: [{id: web, writeKey: wk_web}]
destinations:
  - {id: warehouse, type: topic, sources: [web], topic: {partitions: 2, retention: 24h}}
  - {id: named, type: topic, sources: [web], topic: {name: shop.calls}}
`

// TestADestinationThatIsATopic from a call to what every command says of it.
func TestADestinationThatIsATopic(t *testing.T) {
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, exportedWorkspace)
	env := environment(t)
	r := start(t, with(env, "WORKSPACE_FILE", file))
	setShell(t, env, r)
	for _, body := range []string{`{"userId":"u1","event":"Seen","messageId":"m1"}`, `{"userId":"u1","event":"Seen","messageId":"m2","integrations":{"Topic":false}}`} {
		if status := r.post(t, "/v1/track", "wk_web", body); status != http.StatusOK {
			t.Fatalf("%s was answered %d", body, status)
		}
	}
	says := func(part string, args ...string) {
		t.Helper()
		var text string
		testkit.Until(t, func() bool {
			text, _ = typed(t, args...)
			return strings.Contains(text, part)
		}, strings.Join(args, " ")+" to say "+part)
	}
	says("written to topic "+schemas.ExportTopic("warehouse")+"[", "trace", "m1")
	says("written to topic shop.calls[", "trace", "m1")
	says(`warehouse: filtered by "Topic"`, "trace", "m2")
	says("shop.calls", "status")
	says("all is accounted for", "audit", "--settle", "0s")

	writeFile(t, file, "sources: [{id: web, writeKey: wk_web}]\ndestinations: [{id: warehouse, type: webhooks, sources: [web], endpoints: [{url: 'https://hooks.example.com/'}]}]\n")
	says("    topic deliver.export.warehouse is not deleted", "apply", "--dry-run", "-f", file)
}
