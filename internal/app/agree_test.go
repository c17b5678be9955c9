package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/schematest"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestEveryAcceptedCallIsDeliverable sends generated calls, half of which are bad
// in one way or another. What is accepted of them must arrive, in the form that
// is published: what ingest lets through, no later stage may stumble over.
func TestEveryAcceptedCallIsDeliverable(t *testing.T) {
	t.Parallel()
	receiver := testkit.NewReceiver(t)
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, fmt.Sprintf(`
sources:
  - {id: web, name: Web, writeKey: WK_TEST}
destinations:
  - {id: books, type: webhooks, name: Books, sources: [web], endpoints: [{url: %q}]}
`, receiver.URL))
	r := start(t, with(environment(t), "WORKSPACE_FILE", file, "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8"))

	g := schematest.New(11)
	accepted := 0
	for range 60 {
		accepted += r.accepted(t, g.Batch(20))
	}
	if accepted < 100 {
		t.Fatalf("%d calls were accepted, too few for a test that means something", accepted)
	}
	delivered := 0
	testkit.Until(t, func() bool {
		delivered = r.count(t, `anabranch_webhook_sink_deliveries_total{destination="books",result="delivered"}`)
		filtered := r.count(t, `anabranch_router_events_total{destination="books",result="filtered"}`)
		// Some generated calls have the same messageId and user.
		duplicates := r.count(t, `anabranch_router_events_total{destination="",result="duplicate"}`)
		return delivered+filtered+duplicates >= accepted
	}, fmt.Sprintf("%d accepted calls to be delivered, filtered or copies", accepted))

	compiled := make(map[schemas.Type]*jsonschema.Schema)
	for _, d := range receiver.Wait(t, delivered) {
		body := d.JSON(t)
		kind, _ := body["type"].(string)
		if compiled[schemas.Type(kind)] == nil {
			compiled[schemas.Type(kind)] = deliverySchema(t, kind)
		}
		if err := compiled[schemas.Type(kind)].Validate(body); err != nil {
			t.Errorf("%s: %v", d.Body, err)
		}
	}
	if len(compiled) != 6 {
		t.Errorf("deliveries of %d types, want all six", len(compiled))
	}
}

// accepted posts a batch and returns how many of its calls were accepted.
func (r *running) accepted(t *testing.T, body []byte) int {
	t.Helper()
	var sent struct {
		Batch []json.RawMessage `json:"batch"`
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.api+"/v1/batch", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("WK_TEST", "")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode == http.StatusBadRequest {
		return 0
	}
	var answer struct {
		Rejected []json.RawMessage `json:"rejected"`
	}
	if resp.StatusCode != http.StatusOK || json.Unmarshal(text, &answer) != nil || json.Unmarshal(body, &sent) != nil {
		t.Fatalf("answer %d: %s", resp.StatusCode, text)
	}
	return len(sent.Batch) - len(answer.Rejected)
}

// count returns the value of one series; 0 when it is not there yet.
func (r *running) count(t *testing.T, series string) int {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\d+)$`).FindStringSubmatch(r.get(t, "/metrics"))
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
