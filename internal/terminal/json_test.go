package terminal

import (
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := JSON(&out, map[string]string{"url": "http://a.test/?b&c"}); err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"url\": \"http://a.test/?b&c\"\n}\n"; out.String() != want {
		t.Errorf("printed %s, want %s", out.String(), want)
	}
	if err := JSON(&out, func() {}); err == nil {
		t.Error("what has no JSON is printed")
	}
}
