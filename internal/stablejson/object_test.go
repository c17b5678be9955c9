package stablejson_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// parsed returns the object that text is.
func parsed(t *testing.T, text string) *stablejson.Object {
	t.Helper()
	var o stablejson.Object
	if err := o.Parse([]byte(text)); err != nil {
		t.Fatalf("Parse(%.100s): %v", text, err)
	}
	return &o
}

func wantObject(t *testing.T, o *stablejson.Object, want string) {
	t.Helper()
	if got := string(o.Append(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if again, err := stablejson.Append(nil, []byte(want)); err != nil || string(again) != want {
		t.Errorf("%s is not stable: %s, %v", want, again, err)
	}
}

func TestObjectParse(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                                `{}`,
		`{ "b" : 1.0 , "0" : [ ] }`:         `{"0":[],"b":1}`,
		`{"a":1,"b":2,"a":3}`:               `{"a":3,"b":2}`,
		`{"x":{"b":1,"a":2,"1":3,"a":[4]}}`: `{"x":{"1":3,"b":1,"a":[4]}}`,
	} {
		wantObject(t, parsed(t, in), want)
	}
}

func TestObjectParseRefusesAllElse(t *testing.T) {
	o := parsed(t, `{"a":1}`)
	for _, text := range []string{``, `[]`, `null`, `{"a":1} x`, `{"a":1`, `{"a":01}`} {
		if err := o.Parse([]byte(text)); err == nil {
			t.Errorf("Parse(%s): no error", text)
		}
		if o.Len() != 0 {
			t.Errorf("Parse(%s) left %d members", text, o.Len())
		}
		wantObject(t, o, `{}`)
	}
}

func TestObjectGet(t *testing.T) {
	o := parsed(t, `{"a":1.50,"\u0062":"x\u0041","quote\"\n":null,"\ud800":[],"caf\u00e9":{}, "":0}`)
	for key, want := range map[string]string{
		"a": "1.5", "b": `"xA"`, "quote\"\n": "null", "\uFFFD": "[]", "\xff": "[]", "café": "{}", "": "0",
	} {
		if got := o.Get(key); string(got) != want {
			t.Errorf("Get(%q): got %q, want %q", key, got, want)
		}
	}
	// The second is how the key with the quote is stored.
	for _, key := range []string{"A", `quote\"\n`, "aa"} {
		if got := o.Get(key); got != nil {
			t.Errorf("Get(%q): got %q, want nil", key, got)
		}
	}
	var empty stablejson.Object
	if got := empty.Get("a"); got != nil {
		t.Errorf("Get on an empty object: got %q", got)
	}
}

func TestObjectGetSurvivesChanges(t *testing.T) {
	o := parsed(t, `{"a":"first","b":2}`)
	value := o.Get("a")
	_ = append(value, `,"overwritten":1`...)
	wantObject(t, o, `{"a":"first","b":2}`)
	o.Set("a", []byte(`"second"`))
	o.Delete("b")
	for i := range 100 {
		o.Set(strconv.Itoa(i), []byte(`"much more than fits"`))
	}
	if string(value) != `"first"` {
		t.Errorf("a value taken before: got %s", value)
	}
	if got := string(o.Get("a")); got != `"second"` {
		t.Errorf("the value now: got %s", got)
	}
}

func TestObjectSet(t *testing.T) {
	o := parsed(t, `{"b":1,"5":2,"a":3}`)
	o.Set("a", []byte(`[4]`))        // replaced in place
	o.Set("c", o.Get("a"))           // its own memory as the value
	o.Set("7", []byte(`5`))          // index keys keep their order
	o.Set("1", []byte(`6`))          //
	o.Set("6", []byte(`7`))          //
	o.Set("5", []byte(`8`))          //
	o.Set("4294967295", []byte(`0`)) // no index
	o.Set("d\"\xff", []byte(`{}`))
	wantObject(t, o, `{"1":6,"5":8,"6":7,"7":5,"b":1,"a":[4],"c":[4],"4294967295":0,"d\"`+"\uFFFD"+`":{}}`)
	if o.Len() != 9 {
		t.Errorf("Len: got %d, want 9", o.Len())
	}
}

func TestObjectSetCopies(t *testing.T) {
	var o stablejson.Object
	value := []byte(`"kept"`)
	o.Set("a", value)
	copy(value, `"lost"`)
	wantObject(t, &o, `{"a":"kept"}`)
}

func TestObjectDelete(t *testing.T) {
	o := parsed(t, `{"1":0,"a":1,"b":2,"c":3}`)
	o.Delete("b")
	o.Delete("absent")
	o.Delete("1")
	wantObject(t, o, `{"a":1,"c":3}`)
	o.Set("b", []byte("4"))
	wantObject(t, o, `{"a":1,"c":3,"b":4}`)
	for _, key := range []string{"a", "b", "c"} {
		o.Delete(key)
	}
	wantObject(t, o, `{}`)
}

func TestObjectAll(t *testing.T) {
	o := parsed(t, `{"b\n":1,"1":[],"a":"x"}`)
	var got []string
	for key, value := range o.All() {
		got = append(got, key+"="+string(value))
	}
	if diff := cmp.Diff([]string{"1=[]", "b\n=1", `a="x"`}, got); diff != "" {
		t.Error(diff)
	}
	for key := range o.All() {
		if key != "1" {
			t.Errorf("went on after break: %q", key)
		}
		break
	}
}

func TestObjectMerge(t *testing.T) {
	for _, c := range []struct{ name, own, base, want string }{
		{"own keys win, whole", `{"a":{"x":1}}`, `{"a":{"y":2},"b":3}`, `{"a":{"x":1},"b":3}`},
		{"null is a value", `{"a":null}`, `{"a":1}`, `{"a":null}`},
		{"index keys keep their order", `{"5":1,"b":2}`, `{"9":3,"1":4,"5":5,"a":6}`, `{"1":4,"5":1,"9":3,"b":2,"a":6}`},
		{"into nothing", `{}`, `{"b":1,"a":2}`, `{"b":1,"a":2}`},
		{"nothing", `{"b":1}`, `{}`, `{"b":1}`},
		{"keys with escapes", `{"\"":1}`, `{"\u0022":2,"\n":3}`, `{"\"":1,"\n":3}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, base := parsed(t, c.own), parsed(t, c.base)
			o.Merge(base)
			wantObject(t, o, c.want)
			if again, _ := stablejson.Append(nil, []byte(c.base)); string(base.Append(nil)) != string(again) {
				t.Errorf("base changed to %s", base.Append(nil))
			}
		})
	}
}

func TestObjectMergesItself(t *testing.T) {
	o := parsed(t, `{"a":1}`)
	o.Merge(o)
	wantObject(t, o, `{"a":1}`)
}

func TestObjectIsReusable(t *testing.T) {
	var o stablejson.Object
	for i, text := range []string{`{"a":1,"b":2}`, `{}`, `{"0":"long enough to need more room than before"}`, `{"b":3}`} {
		if err := o.Parse([]byte(text)); err != nil {
			t.Fatal(err)
		}
		o.Set("i", strconv.AppendInt(nil, int64(i), 10))
		if got := string(o.Get("i")); got != strconv.Itoa(i) {
			t.Errorf("%s: got %s, want %d", text, got, i)
		}
		o.Delete("i")
		wantObject(t, &o, text)
	}
	o.Reset()
	wantObject(t, &o, `{}`)
}

// A huge object finds its members another way, which has to follow every change.
func TestObjectHuge(t *testing.T) {
	const n = 20_000
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `,"collides%07dcollides":%d`, i, i)
	}
	o := parsed(t, "{"+text.String()[1:]+"}")
	key := func(i int) string { return fmt.Sprintf("collides%07dcollides", i) }
	check := func(i int, want string) {
		t.Helper()
		if got := string(o.Get(key(i))); got != want {
			t.Errorf("Get(%s): got %q, want %q", key(i), got, want)
		}
	}
	for i := range n {
		check(i, strconv.Itoa(i))
	}
	o.Set(key(5), []byte("true"))
	check(5, "true")
	o.Set(key(n), []byte("[]")) // behind all
	check(n, "[]")
	o.Set("7", []byte("{}")) // before all: every place moves
	check(0, "0")
	check(n, "[]")
	o.Delete(key(3))
	check(3, "")
	check(4, "4")

	base := parsed(t, "{"+text.String()[1:]+`,"9":9,"8":8}`)
	o.Merge(base)
	check(3, "3")
	check(5, "true")
	if o.Len() != n+4 {
		t.Errorf("Len: got %d, want %d", o.Len(), n+4)
	}
	if got := string(o.Append(nil)[:30]); got != `{"7":{},"8":8,"9":9,"collides0` {
		t.Errorf("order after Merge: got %s", got)
	}

	// Filled again, each member one place further.
	if err := o.Parse([]byte(`{"first":true` + text.String() + "}")); err != nil {
		t.Fatal(err)
	}
	check(0, "0")
	check(n-1, strconv.Itoa(n-1))
}
