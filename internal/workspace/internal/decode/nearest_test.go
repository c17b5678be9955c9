package decode

import (
	"strings"
	"testing"
)

func TestSuggestion(t *testing.T) {
	t.Parallel()
	known := []string{"id", "name", "writeKey", "enabled"}
	const all = "one of id, name, writeKey, enabled"
	for key, want := range map[string]string{
		"writekey": "writeKey", "write_key": "writeKey", "wirteKey": "writeKey", "ENABLED": "enabled", "enable": "enabled",
		"names": "name", "colour": all, "": "id", "key": all, strings.Repeat("writeKey", 100_000): all,
	} {
		if got := suggestion(key, known); got != want {
			t.Errorf("%.20q: %s, want %s", key, got, want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "a", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"ab", "ba", 2}, {"abcd", "", 4}} {
		if got := editDistance(tt.a, tt.b, 10); got != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := editDistance(tt.b, tt.a, 10); got != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}
