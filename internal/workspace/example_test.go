package workspace

import "testing"

// TestExampleIsAValidWorkspace writes the example as people would.
func TestExampleIsAValidWorkspace(t *testing.T) {
	t.Parallel()
	equal(t, Example("http://127.0.0.1:8082/"), parse(t, `
sources:
  - id: website
    name: Website
    writeKey: wk_website
destinations:
  - id: example
    type: webhooks
    name: Example
    sources: [website]
    sharedSecret: example-secret
    endpoints:
      - url: http://127.0.0.1:8082/
`))
}
