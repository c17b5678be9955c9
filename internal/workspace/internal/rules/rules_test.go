package rules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
)

func TestRules(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		check     func(string) string
		good, bad []string
	}{
		"id":   {ID, []string{"a", "crm-2", strings.Repeat("a", 64)}, []string{"", "A", "a_b", "a.b", "ä", strings.Repeat("a", 65)}},
		"name": {Name, []string{"CRM", "Ümlaut 2", strings.Repeat("a", 256)}, []string{"", strings.Repeat("a", 257)}},
		"type": {Type, []string{"webhooks"}, []string{"", "Webhooks", "webhook"}},
		"write key": {
			WriteKey,
			[]string{"wk_website", "a", "!~", strings.Repeat("k", 256)},
			[]string{"", "a b", "a:b", "a\n", "\x7f", "clé", strings.Repeat("k", 257)},
		},
		"URL": {
			URL,
			[]string{
				"http://h", "https://h.example.com/hooks/events?a=b", "HTTPS://H/", "http://127.0.0.1:8082/", "https://[::1]:8443/",
				"https://user:password@h/", "https://h:65535", "https://xn--bcher-kva.example/", "https://h/%20",
			},
			[]string{
				"", "h", "//h/", "/hooks", "ftp://h", "http://", "http:///a", "http://:80/", "http:h", "mailto:a@b", "https://h/#f", "https://h#",
				"https://h:0", "https://h:65536", "https://h:http", "https://bücher.example/", "https://h/ä", "https://h/?a b", "https://h/\r\nX: 1",
				" https://h", "https://h\t", "http://h/%zz", "https://h/" + strings.Repeat("a", 2048),
			},
		},
		"plan action":   {PlanAction, []string{"allow", "mark", "block"}, []string{"", "Block", "drop"}},
		"property type": {PropertyType, []string{"string", "number", "integer", "boolean", "object", "array"}, []string{"", "String", "null", "date"}},
		"planned name": {
			PlannedName,
			[]string{"e", "Order Completed", "$current_url", `a "quoted" one`, "Bücher", "购物", strings.Repeat("a", 256)},
			[]string{"", "a\tb", "a\n", "\x00", "a\u00a0b", "a\u200bb", "\u2028", "\xff", strings.Repeat("a", 257)},
		},
		"header name": {
			HeaderName,
			[]string{"X-Team", "authorization", "a", "0", "!#$%&'*+-.^_`|~", "X-Signature-2", "Cookie", "Date"},
			[]string{
				"", "X Team", "X:Team", "X-Téam", "X\r\nY", "(a)", `"a"`, "X-Team ",
				"X-Signature", "x-signature", "Content-Type", "USER-AGENT", "host", "Content-Length", "Idempotency-Key", "x-idempotency-key",
				"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "TE", "Trailer", "Transfer-Encoding",
				"Upgrade", "HTTP2-Settings", "Expect", strings.Repeat("X", 257),
			},
		},
		"header value": {
			HeaderValue,
			[]string{"growth", "Bearer abc", "a\tb", "café", strings.Repeat("v", 4096)},
			[]string{"", "a\r", "a\n", "a\x00", "\x1b[31m", "\x7f", "\xff", strings.Repeat("v", 4097)},
		},
		"secret": {Secret, []string{"s", "line\nbreak", "\x00", strings.Repeat("s", 4096)}, []string{"", "\xff", strings.Repeat("s", 4097)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, text := range tt.good {
				if objection := tt.check(text); objection != "" {
					t.Errorf("%.60q is refused: expected %s", text, objection)
				}
			}
			for _, text := range tt.bad {
				if tt.check(text) == "" {
					t.Errorf("%.60q is accepted", text)
				}
			}
		})
	}
}

// TestPlan reaches the bound from below, with names whose quotes count twice.
func TestPlan(t *testing.T) {
	t.Parallel()
	plan := func(events int) *workspace.TrackingPlan {
		p := &workspace.TrackingPlan{Events: make(map[string]workspace.PlannedObject), Page: new(workspace.PlannedObject)}
		for i := range events {
			property := map[string]workspace.PlannedProperty{fmt.Sprintf(`"%08d`, i): {}}
			p.Events[fmt.Sprintf(`\%08d`, i)] = workspace.PlannedObject{Properties: property}
		}
		return p
	}
	const each = eventBytes + propertyBytes + 2*10
	if objection := Plan(plan(maxPlanBytes / each)); objection != "" {
		t.Errorf("refused: expected %s", objection)
	}
	want := fmt.Sprintf("a plan of at most 900000 bytes, as it is stored; this one takes up to %d", (maxPlanBytes/each+1)*each)
	if got := Plan(plan(maxPlanBytes/each + 1)); got != want {
		t.Errorf("one event more: %q, want %q", got, want)
	}
	full := plan(maxPlanBytes / each)
	full.Page.Properties = map[string]workspace.PlannedProperty{strings.Repeat("p", 256): {}}
	if Plan(full) == "" {
		t.Error("the properties of pages are not counted")
	}
}
