package ingest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestIDsOfNobody are delivered as they came, and are not the key of a record: all
// events of one key are delivered one after the other.
func TestIDsOfNobody(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	snapshot := workspace.NewSnapshot([]workspace.Source{{
		ID: "website", WriteKeyHash: workspace.HashWriteKey(goodKey), Enabled: true, Identity: &workspace.Identity{Blocked: []string{"Guest"}},
	}}, nil)
	s.handler.workspace = workspace.NewLive(snapshot)
	var want []string
	for id, key := range map[string]string{
		`"userId":"null"`: "m",
		`"userId":"[object Object]","anonymousId":"a"`:        "a",
		`"userId":"GUEST","anonymousId":"a"`:                  "a",
		`"userId":0,"anonymousId":"undefined"`:                "m",
		`"anonymousId":" "`:                                   "m",
		`"userId":"\u0022null\u0022","anonymousId":"a\u0022"`: `a"`,
		`"userId":"u","anonymousId":"null"`:                   "u",
		`"userId":"guests"`:                                   "guests",
	} {
		call := `{"messageId":"m",` + id + `}`
		if got := s.post(t, "/v1/i", call); got.body != success {
			t.Errorf("%s: got %d %s", call, got.status, got.body)
		}
		id = strings.NewReplacer(`:0,`, `:"0",`, `\u0022`, `\"`).Replace(id)
		want = append(want, key+` source=website type=identify message-id=m origin=api {"messageId":"m",`+id+`,"type":"identify",`+tail)
	}
	if diff := cmp.Diff(want, s.stored(t, len(want))); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if got := testkit.Counters(t, s.registry)["anabranch_ingest_identity_blocked_total"]; got != 6 {
		t.Errorf("counted %v", got)
	}
	if !strings.Contains(s.log.String(), "ids of users stand for nobody") {
		t.Errorf("logged %s", s.log)
	}
}
