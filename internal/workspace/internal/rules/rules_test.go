package rules

import (
	"strings"
	"testing"
)

// named returns what a rule checks.
func named(tb testing.TB, name string) func(string) string {
	tb.Helper()
	rule, ok := Named(name)
	if !ok {
		tb.Fatalf("no rule %s", name)
	}
	return rule.Check
}

func TestRules(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		check     func(string) string
		good, bad []string
	}{
		"id":   {named(t, "id"), []string{"a", "crm-2", strings.Repeat("a", 64)}, []string{"", "A", "a_b", "a.b", "ä", strings.Repeat("a", 65)}},
		"name": {named(t, "name"), []string{"CRM", "Ümlaut 2", strings.Repeat("a", 256)}, []string{"", strings.Repeat("a", 257)}},
		"type": {OneOf("webhooks").Check, []string{"webhooks"}, []string{"", "Webhooks", "webhook"}},
		"write key": {
			named(t, "writeKey"),
			[]string{"wk_website", "a", "!~", strings.Repeat("k", 256)},
			[]string{"", "a b", "a:b", "a\n", "\x7f", "clé", strings.Repeat("k", 257)},
		},
		"URL": {
			named(t, "url"),
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
		"plan action":   {OneOf("allow", "mark", "block").Check, []string{"allow", "mark", "block"}, []string{"", "Block", "drop"}},
		"property type": {OneOf("string", "number", "integer", "boolean", "object", "array").Check, []string{"string", "number", "integer", "boolean", "object", "array"}, []string{"", "String", "null", "date"}},
		"planned name": {
			named(t, "plannedName"),
			[]string{"e", "Order Completed", "$current_url", `a "quoted" one`, "Bücher", "购物", strings.Repeat("a", 256)},
			[]string{"", "a\tb", "a\n", "\x00", "a\u00a0b", "a\u200bb", "\u2028", "\xff", strings.Repeat("a", 257)},
		},
		"header name": {
			named(t, "headerName"),
			[]string{"X-Team", "authorization", "a", "0", "!#$%&'*+-.^_`|~", "X-Signature-2", "Cookie", "Date"},
			[]string{
				"", "X Team", "X:Team", "X-Téam", "X\r\nY", "(a)", `"a"`, "X-Team ",
				"X-Signature", "x-signature", "Content-Type", "USER-AGENT", "host", "Content-Length", "Idempotency-Key", "x-idempotency-key",
				"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "TE", "Trailer", "Transfer-Encoding",
				"Upgrade", "HTTP2-Settings", "Expect", strings.Repeat("X", 257),
			},
		},
		"header value": {
			named(t, "headerValue"),
			[]string{"growth", "Bearer abc", "a\tb", "café", strings.Repeat("v", 4096)},
			[]string{"", "a\r", "a\n", "a\x00", "\x1b[31m", "\x7f", "\xff", strings.Repeat("v", 4097)},
		},
		"secret": {named(t, "secret"), []string{"s", "line\nbreak", "\x00", strings.Repeat("s", 4096)}, []string{"", "\xff", strings.Repeat("s", 4097)}},
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
