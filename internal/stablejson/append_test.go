package stablejson_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/stablejson"
)

func TestAppendKeepsWhatIsInFront(t *testing.T) {
	got, err := stablejson.Append([]byte(`[`), []byte(` { "b" : 1 , "0" : 2 } `))
	if err != nil {
		t.Fatal(err)
	}
	if want := `[{"0":2,"b":1}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAppendStableForm(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"index keys first, at every level", `{"b":{"y":1,"1":2},"10":3,"9":4}`, `{"9":4,"10":3,"b":{"1":2,"y":1}}`},
		{"largest index key", `{"a":1,"4294967295":2,"4294967294":3}`, `{"4294967294":3,"a":1,"4294967295":2}`},
		{"no index keys", `{"a":1,"01":2,"-1":3,"1.5":4,"1e1":5,"":6}`, `{"a":1,"01":2,"-1":3,"1.5":4,"1e1":5,"":6}`},
		{"escaped index key", `{"a":1,"\u0031":2}`, `{"1":2,"a":1}`},
		{"duplicate keys", `{"a":1,"b":2,"a":{"x":[]},"c":3,"b":4}`, `{"a":{"x":[]},"b":4,"c":3}`},
		{"duplicate index keys", `{"a":0,"2":1,"1":2,"2":3}`, `{"1":2,"2":3,"a":0}`},
		{"duplicate by escape", `{"a/b":1,"a\/b":2,"\u0061/b":3}`, `{"a/b":3}`},
		{"duplicate by repair", "{\"\\ud800\":1,\"\xff\":2,\"\uFFFD\":3}", "{\"\uFFFD\":3}"},
		{"duplicate in an element", `[{"a":1,"a":2},{"a":1}]`, `[{"a":2},{"a":1}]`},
		{"an ordinary key named like a property", `{"__proto__":1,"constructor":2,"__proto__":3}`, `{"__proto__":3,"constructor":2}`},
		{"empty containers", ` [ { } , [ ] , "" ] `, `[{},[],""]`},
		{"half a pair before a pair", `"\ud800\ud83d\ude00\udc00"`, "\"\uFFFD\U0001F600\uFFFD\""},
		{"escapes that stay and that go", `"\u000a\u001F\/\u0022\u005c\u007f\u2028<>&'"`, "\"\\n\\u001f/\\\"\\\\\x7f\u2028<>&'\""},
		{"truncated sequence before an escape", "\"\xe2\x82\\n\xf0\x9f\x98\\u0041\"", "\"\uFFFD\\n\uFFFDA\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := stablejson.Append(nil, []byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestAppendSaysWhereAndWhat(t *testing.T) {
	for in, want := range map[string]string{
		``:              `offset 0: text ends early: expected a value`,
		` ]`:            `offset 1: expected a value`,
		`{"a" 1}`:       `offset 5: expected ':' after object key`,
		`{"a":1 "b":2}`: `offset 7: expected ',' or '}' after object member`,
		`{"a":1,}`:      `offset 7: expected object key`,
		`{"a":1`:        `offset 6: text ends early: expected ',' or '}' after object member`,
		`[1 2]`:         `offset 3: expected ',' or ']' after array element`,
		`[tru]`:         `offset 1: expected true`,
		`nul`:           `offset 0: expected null`,
		`1 2`:           `offset 2: expected the end of the text`,
		`[01]`:          `offset 2: number with a leading zero`,
		`1.`:            `offset 2: text ends early: expected a digit`,
		`-x`:            `offset 1: expected a digit`,
		`1e+`:           `offset 3: text ends early: expected a digit`,
		`"a`:            `offset 2: text ends early: expected '"' at the end of the string`,
		`"\`:            `offset 2: text ends early: expected an escape sequence`,
		`"\x"`:          `offset 2: unknown escape sequence in string`,
		`"\u00g0"`:      `offset 2: expected four hexadecimal digits after \u`,
		"\"a\nb\"":      `offset 2: control character in string`,
	} {
		if _, err := stablejson.Append(nil, []byte(in)); err == nil || err.Error() != want {
			t.Errorf("Append(%q): got %v, want %s", in, err, want)
		}
	}
}

func TestAppendCapsDepth(t *testing.T) {
	nested := func(opening, closing string, times int) []byte {
		return []byte(strings.Repeat(opening, times) + "0" + strings.Repeat(closing, times))
	}
	if _, err := stablejson.Append(nil, nested("[", "]", stablejson.MaxDepth)); err != nil {
		t.Errorf("at the cap: %v", err)
	}
	_, err := stablejson.Append(nil, nested("[", "]", stablejson.MaxDepth+1))
	var syntax *stablejson.SyntaxError
	if !errors.Is(err, stablejson.ErrTooDeep) || !errors.As(err, &syntax) || syntax.Offset != stablejson.MaxDepth {
		t.Errorf("one level deeper: got %v, want ErrTooDeep at offset %d", err, stablejson.MaxDepth)
	}
	if _, err := stablejson.Append(nil, nested(`[{"a":`, "}]", stablejson.MaxDepth/2+1)); !errors.Is(err, stablejson.ErrTooDeep) {
		t.Errorf("objects and arrays in turn: got %v, want ErrTooDeep", err)
	}
	// Depth is what is open at once, not what was ever opened.
	if _, err := stablejson.Append(nil, []byte("["+strings.Repeat("[],{},", 1000)+"0]")); err != nil {
		t.Errorf("many siblings: %v", err)
	}
}

// Objects beyond a few members take other paths than small ones: sizes on both
// sides of the border, keys whose fingerprints all collide, and so many keys that
// comparing each with each would not end in the time a test has.
func TestAppendLargeObjects(t *testing.T) {
	for _, n := range []int{31, 32, 33, 34, 100, 100_000} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			var in, want strings.Builder
			for i := range n {
				fmt.Fprintf(&in, `"collides%07dcollides":0,`, i)
				fmt.Fprintf(&want, `"collides%07dcollides":%d,`, i, i)
			}
			once := strings.TrimSuffix(want.String(), ",")
			got, err := stablejson.Append(nil, []byte("{"+once+"}"))
			if err != nil || string(got) != "{"+once+"}" {
				t.Errorf("keys that differ: got %.100s, %v", got, err)
			}
			got, err = stablejson.Append(nil, []byte("{"+in.String()+once+"}"))
			if err != nil || string(got) != "{"+once+"}" {
				t.Errorf("each key twice: got %.100s, %v", got, err)
			}
		})
	}
}

func TestAppendLargeObjectsOfIndexKeys(t *testing.T) {
	const n = 100_000
	var in, want strings.Builder
	for i := range n {
		fmt.Fprintf(&in, `"%d":0,`, n-1-i)
		fmt.Fprintf(&want, `"%d":0,`, i)
	}
	got, err := stablejson.Append(nil, []byte(`{"last":1,`+strings.TrimSuffix(in.String(), ",")+"}"))
	if err != nil || string(got) != "{"+want.String()+`"last":1}` {
		t.Errorf("got %.100s…, %v", got, err)
	}
}
