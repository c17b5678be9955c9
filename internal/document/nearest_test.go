package document

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
		if got := Suggestion(key, known); got != want {
			t.Errorf("%.20q: %s, want %s", key, got, want)
		}
	}
}
