package stablejson

import (
	"fmt"
	"strings"
	"testing"
)

func TestDiscard(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, `"k%d":0,`, i)
	}
	text := `{"id":"first","many":{` + many.String() + `"last":0},"id":"x"}`
	read := func(behind int) *Object {
		var r Reader
		var o Object
		r.Reset([]byte(text))
		r.Discard(behind)
		if err := r.Object(&o); err != nil {
			t.Fatalf("discard behind %d: %v", behind, err)
		}
		if err := r.End(); err != nil {
			t.Fatalf("discard behind %d: %v", behind, err)
		}
		return &o
	}
	if all := read(len(text)); len(all.Get("many")) != len(many.String())+len(`{"last":0}`) {
		t.Errorf("what ends at the offset is not whole: %s", all.Get("many"))
	}
	some := read(100)
	if n := len(some.Get("many")); n > 100+few*len(`"k1000":0,`) {
		t.Errorf("%d bytes are kept of what ends behind the offset", n)
	}
	if id := string(some.Get("id")); id != `"x"` {
		t.Errorf("the member behind it is %s, expected it, and the last of its key", id)
	}
}

// What is discarded is refused as it would be otherwise.
func TestDiscardValidates(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a":1,}`, `{"a":{"b":01}}`, `{"a" 1}`, `{"a":[1,2}`, `{"a":"\x"}`} {
		var r Reader
		var o Object
		r.Reset([]byte(text))
		r.Discard(0)
		if err := r.Object(&o); err == nil {
			t.Errorf("%s passed", text)
		}
	}
}
