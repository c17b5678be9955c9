package wsrecord

import (
	"slices"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/rules"
	"github.com/anabranch/anabranch/schemas"
)

// longest returns the longest text of prefix and many times unit that a rule
// accepts.
func longest(tb testing.TB, rule func(string) string, prefix, unit string) string {
	tb.Helper()
	text := prefix + unit
	if objection := rule(text); objection != "" {
		tb.Fatalf("%q: expected %s", text, objection)
	}
	for len(text) < 1<<16 && rule(text+unit) == "" {
		text += unit
	}
	return text
}

// TestTheLargestDestinationFitsIntoARecord fills what the rules allow with what
// takes the most bytes in JSON of all that each may hold.
func TestTheLargestDestinationFitsIntoARecord(t *testing.T) {
	t.Parallel()
	d := workspace.Destination{
		ID:           longest(t, rules.ID, "", "a"),
		Type:         workspace.TypeWebhooks,
		Name:         longest(t, rules.Name, "", `"`),
		SharedSecret: schemas.Secret(longest(t, rules.Secret, "", "\x01")),
	}
	header := workspace.Header{
		Name:  longest(t, rules.HeaderName, "", "X"),
		Value: schemas.Secret(longest(t, rules.HeaderValue, "", `"`)),
	}
	headers := []workspace.Header{header}
	for rules.Headers(len(headers)+1) == "" {
		headers = append(headers, header)
	}
	url := longest(t, rules.URL, "https://h/", `"`)
	for rules.Endpoints(len(d.Endpoints)+1) == "" {
		d.Endpoints = append(d.Endpoints, workspace.Endpoint{URL: url, Headers: slices.Clone(headers)})
	}
	text, err := encodeDestination(&d)
	if err != nil || len(text) > 1_000_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, err := decodeDestination(d.ID, text); err != nil {
		t.Error(err)
	}
	if rules.URL(url+strings.Repeat("a", 2)) == "" || len(d.Endpoints) != workspace.MaxEndpoints {
		t.Errorf("not the largest: a URL of %d bytes, %d endpoints", len(url), len(d.Endpoints))
	}
}
