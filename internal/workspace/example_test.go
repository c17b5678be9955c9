package workspace_test

import (
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
)

// TestExampleIsAValidWorkspace writes the example as people would.
func TestExampleIsAValidWorkspace(t *testing.T) {
	t.Parallel()
	written, err := wsfile.Parse("workspace.yaml", []byte(`
sources:
  - id: website
    name: Website
    writeKey: wk_website
destinations:
  - id: example
    type: webhooks
    name: Example
    sources: [website, personas]
    sharedSecret: example-secret
    endpoints:
      - url: http://127.0.0.1:8082/
audiences:
  - {name: New pros, when: {did: Signed Up, where: {plan: pro}, within: 1h}}
traits:
  - {name: Sign-ups, take: count, did: Signed Up}
`), wsfile.Lookup{})
	if err != nil {
		t.Fatal(err)
	}
	wstest.Equal(t, workspace.Example("http://127.0.0.1:8082/"), written)
}
