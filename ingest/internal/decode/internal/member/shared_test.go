package member

import (
	"testing"

	"github.com/anabranch/anabranch/internal/stablejson"
)

func TestMerge(t *testing.T) {
	var shared Shared
	var e Editor
	for _, c := range []struct{ batch, call, want string }{
		{`{}`, `{"context":{"a":1}}`, `{"context":{"a":1}}`},
		{`null`, `{"context":{"a":1}}`, `{"context":{"a":1}}`},
		{`[1]`, `{}`, `{}`},
		{`{"a":2,"b":2}`, `{"context":{"a":1}}`, `{"context":{"a":1,"b":2}}`},
		{`{"a":{"x":1}}`, `{"context":{"a":{}}}`, `{"context":{"a":{}}}`}, // whole
		{`{"b":2,"1":0}`, `{"context":{"a":1}}`, `{"context":{"1":0,"a":1,"b":2}}`},
		{`{"a":2}`, `{"x":0}`, `{"x":0,"context":{"a":2}}`},
		{`{"a":2}`, `{"context":{}}`, `{"context":{"a":2}}`},
		{`{"a":null}`, `{"context":{"b":null}}`, `{"context":{"b":null,"a":null}}`},
	} {
		var r stablejson.Reader
		r.Reset([]byte(c.batch))
		if err := shared.Parse(&r); err != nil {
			t.Fatal(err)
		}
		call := parse(t, c.call)
		e.Merge(call, "context", &shared)
		if got := string(call.Append(nil)); got != c.want {
			t.Errorf("%s into %s: got %s, want %s", c.batch, c.call, got, c.want)
		}
	}
	shared.Reset()
	if shared.Size() != 0 {
		t.Errorf("%d bytes are left", shared.Size())
	}
}

// TestMergeAllocatesNothing merges with memory that has been used before.
func TestMergeAllocatesNothing(t *testing.T) {
	var shared Shared
	var r stablejson.Reader
	r.Reset([]byte(`{"library":{"name":"x"},"b":2}`))
	if err := shared.Parse(&r); err != nil {
		t.Fatal(err)
	}
	var e Editor
	var call stablejson.Object
	var reader stablejson.Reader
	text := []byte(`{"context":{"a":1}}`)
	if n := testing.AllocsPerRun(100, func() {
		reader.Reset(text)
		if err := reader.Object(&call); err != nil {
			t.Fatal(err)
		}
		e.Merge(&call, "context", &shared)
		e.Merge(&call, "integrations", &shared)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
