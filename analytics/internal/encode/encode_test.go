//go:build go1.26

package encode

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// write writes an object with one member, v.
func write(v any) (string, error) {
	var w Writer
	w.Start(1 << 20)
	w.Map("m", map[string]any{"v": v}, nil)
	text, err := w.Finish()
	return strings.TrimSuffix(strings.TrimPrefix(string(text), `{"m":{"v":`), `}}`), err
}

type named string

type priced struct {
	Price float64 `json:"price"`
	Note  *string `json:"note,omitempty"`
}

// marshaler is a map with a form of its own.
type marshaler map[string]any

func (marshaler) MarshalJSON() ([]byte, error) { return []byte(`"own"`), nil }

// TestAsEncodingJSON holds every kind of value against encoding/json.
func TestAsEncodingJSON(t *testing.T) {
	at := time.Date(2026, 11, 21, 8, 30, 0, 123456789, time.FixedZone("", 3600))
	number := 7
	for _, v := range []any{
		nil, "", "text", "\x00\x1f\"\\\b\f\n\r\t\x7f", "é€😀", "\xff\xc3(\xed\xa0\x80", true, false,
		0, -1, math.MaxInt64, math.MinInt64, int64(5), int32(-5), int8(3), uint64(math.MaxUint64), uint(9), uint8(200), uintptr(3),
		0.0, math.Copysign(0, -1), 1.0, 149.95, 1e20, 1e21, -1e21, 1e-6, 1e-7, 9.99e-7, 1e-10, 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, float32(0.1),
		map[string]any(nil),
		map[string]any{},
		map[string]any{"b": 1, "a": map[string]any{"z": nil, "": 2}},
		[]any(nil),
		[]any{},
		[]any{1, "two", []any{3.5}},
		[]string(nil),
		[]string{"a", "b"},
		[]map[string]any{nil, {"a": 1}},
		map[string]string{"b": "x", "a": "y"},
		[]int{1, 2},
		[2]bool{true},
		[]byte("bytes"), at, &at, time.Duration(5),
		named("n"),
		priced{Price: 2.5},
		&priced{}, (*priced)(nil), &number,
		marshaler{"x": 1},
		marshaler(nil),
		json.RawMessage(` { "raw" : 1 } `), json.Number("12.50"),
		map[int]string{2: "b", 1: "a"},
	} {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		got, err := write(v)
		if err != nil {
			t.Errorf("%#v: %v", v, err)
		}
		if same := equalJSON(t, got, want.String()); !same {
			t.Errorf("%#v: got %s, want %s", v, got, want.String())
		}
	}
}

// equalJSON compares texts, escapes aside: \b and \f may be written in two ways.
func equalJSON(t *testing.T, a, b string) bool {
	t.Helper()
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	if strings.ContainsRune(a+b, '\\') {
		var va, vb any
		if json.Unmarshal([]byte(a), &va) != nil || json.Unmarshal([]byte(b), &vb) != nil {
			return false
		}
		return reflect.DeepEqual(va, vb)
	}
	return a == b
}

func TestMembers(t *testing.T) {
	at := time.Date(2026, 11, 21, 8, 30, 0, 123456789, time.FixedZone("", 3600))
	var w Writer
	w.Start(1000)
	w.Map("none", nil, nil)
	w.Text("empty", "")
	w.Map("both", map[string]any{"a": 1}, map[string]any{"a": 2, "b": 3})
	w.Map("second", nil, map[string]any{"c": 4})
	w.Text("text", "<&>\u2028")
	w.Time("time", at)
	got, err := w.Finish()
	if want := `{"both":{"a":1,"b":3},"second":{"c":4},"text":"<&>` + "\u2028" + `","time":"2026-11-21T07:30:00.123Z"}`; err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	w.Start(1000)
	if got, err := w.Finish(); err != nil || string(got) != "{}" {
		t.Errorf("the next object: %s, %v", got, err)
	}
}

// The callers' maps are left as they are, also where two are put together.
func TestMapsAreNotWritten(t *testing.T) {
	a, b := map[string]any{"a": 1}, map[string]any{"a": 2, "b": []any{map[string]any{"c": 1}}}
	var w Writer
	w.Start(1000)
	w.Map("m", a, b)
	if len(a) != 1 || len(b) != 2 || b["a"] != 2 {
		t.Errorf("%v, %v", a, b)
	}
}

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("no way") }

func TestErrors(t *testing.T) {
	cycle := map[string]any{}
	cycle["self"] = cycle
	loop := []any{nil}
	loop[0] = loop
	deep := any(1)
	for range MaxDepth + 1 {
		deep = []any{deep}
	}
	for name, c := range map[string]struct {
		value any
		path  string
		kind  error
	}{
		"a function":         {func() {}, "m.v", nil},
		"a channel below":    {map[string]any{"items": []any{1, map[string]any{"c": make(chan int)}}}, "m.v.items[1].c", nil},
		"a complex number":   {[]map[string]any{{}, {"x": 1i}}, "m.v[1].x", nil},
		"not a number":       {math.NaN(), "m.v", nil},
		"infinity":           {[]any{math.Inf(-1)}, "m.v[0]", nil},
		"a year of 5 digits": {time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "m.v", nil},
		"raw text":           {json.RawMessage(`{"broken`), "m.v", nil},
		"a method panics":    {map[string]any{"x": panics{}}, "m.v.x", nil},
		"a map in itself":    {cycle, "m.v", ErrTooDeep},
		"a list in itself":   {loop, "m.v", ErrTooDeep},
		"too deep":           {deep, "m.v[0]", ErrTooDeep},
	} {
		_, err := write(c.value)
		e, ok := errors.AsType[*Error](err)
		if !ok || !strings.HasPrefix(e.Path, c.path) || c.kind == nil && e.Path != c.path {
			t.Errorf("%s: got %v, want it at %s", name, err, c.path)
		}
		if c.kind != nil && !errors.Is(err, c.kind) {
			t.Errorf("%s: got %v, want %v", name, err, c.kind)
		}
	}
}

func TestLimit(t *testing.T) {
	member := func(n int) error {
		var w Writer
		w.Start(100)
		w.Text("t", strings.Repeat("x", n))
		_, err := w.Finish()
		return err
	}
	if err := member(100 - len(`{"t":""}`)); err != nil {
		t.Errorf("100 bytes: %v", err)
	}
	if err := member(101 - len(`{"t":""}`)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("101 bytes: %v", err)
	}
}

// A value that is far too large is given up on the way.
func TestLimitIsFoundEarly(t *testing.T) {
	part := map[string]any{"text": strings.Repeat("x", 1000)}
	many := make([]any, 100_000)
	texts := make([]string, 100_000)
	for i := range many {
		many[i], texts[i] = part, "0123456789"
	}
	for _, v := range []any{many, texts} {
		var w Writer
		w.Start(32_768)
		w.Map("m", map[string]any{"v": v}, nil)
		if _, err := w.Finish(); !errors.Is(err, ErrTooLarge) || w.Size() > 200_000 {
			t.Errorf("%v with %d bytes written", err, w.Size())
		}
	}
}

// body is a value of a type of its own.
type body struct {
	Text   string            `json:"text,omitempty"`
	Hidden string            `json:"-"`
	Parts  []*body           `json:"parts,omitempty"`
	Tags   map[string]string `json:",omitempty"`
	Any    any               `json:"any,omitempty"`
	secret string
}

// A refusal costs nothing like what is refused, whatever kind of value that is.
func TestRefusingIsCheap(t *testing.T) {
	text := strings.Repeat("x", 4<<20)
	raw := json.RawMessage(`"` + text + `"`)
	many := make(map[string]any, 100_000)
	for i := range 100_000 {
		many[strconv.Itoa(i)] = nil
	}
	for name, members := range map[string]map[string]any{
		"text":            {"v": text},
		"a key":           {text: 1},
		"texts":           {"v": []string{text}},
		"many keys":       many,
		"bytes":           {"v": []byte(text)},
		"raw":             {"v": raw},
		"a pointer":       {"v": &raw},
		"a struct":        {"v": body{Text: text}},
		"structs":         {"v": []body{{Parts: []*body{{Tags: map[string]string{"a": text}}}}}},
		"raw in a struct": {"v": &body{Any: raw}},
		"named":           {"v": named(text)},
	} {
		var w Writer
		before := allocated()
		w.Start(32_768)
		w.Map("m", members, nil)
		_, err := w.Finish()
		if took := allocated() - before; !errors.Is(err, ErrTooLarge) || took > 1<<18 {
			t.Errorf("%s: %v, %d bytes", name, err, took)
		}
		before = allocated()
		w.Start(32_768)
		w.Map("m", members, many)
		if _, err := w.Finish(); !errors.Is(err, ErrTooLarge) || allocated()-before > 1<<18 {
			t.Errorf("%s beside others: %v", name, err)
		}
	}
	var w Writer
	w.Start(32_768)
	w.Text("t", text)
	if _, err := w.Finish(); !errors.Is(err, ErrTooLarge) || w.Size() > 1<<20 {
		t.Errorf("a member: %v", err)
	}
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// What is not written does not count.
func TestWeighCountsWhatIsWritten(t *testing.T) {
	text := strings.Repeat("x", 50_000)
	for name, v := range map[string]any{
		"hidden":   body{Hidden: text, secret: text},
		"spaces":   json.RawMessage("[" + strings.Repeat(" ", 50_000) + "1 ]"),
		"own form": marshaler{"x": text},
		"embedded": struct {
			body

			Text int `json:"text"`
		}{body: body{Text: text}},
	} {
		var w Writer
		w.Start(32_768)
		w.Map("m", map[string]any{"v": v}, nil)
		got, err := w.Finish()
		if err != nil || !json.Valid(got) || len(got) > 100 {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// Levels count wherever they come from.
func TestDepthOfRawAndStructs(t *testing.T) {
	levels := func(n int) json.RawMessage {
		return json.RawMessage(strings.Repeat("[", n) + `"[[\"[["` + strings.Repeat("]", n))
	}
	nested := func(n int) *body {
		b := &body{}
		for range n - 1 {
			b = &body{Any: b}
		}
		return b
	}
	for name, c := range map[string]struct {
		fits, deep any
	}{
		"raw":             {levels(MaxDepth - 1), levels(MaxDepth)},
		"structs":         {nested(MaxDepth - 1), nested(MaxDepth)},
		"raw in a struct": {body{Any: levels(MaxDepth - 2)}, body{Any: levels(MaxDepth - 1)}},
		"a raw far below": {levels(1), levels(20_000)},
	} {
		if _, err := write(c.fits); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := write(c.deep); !errors.Is(err, ErrTooDeep) {
			t.Errorf("%s: %v, want that it is too deep", name, err)
		}
	}
}

// FuzzRaw holds raw JSON against encoding/json.
func FuzzRaw(f *testing.F) {
	f.Add(` { "a" : [ 1 , "\" ]" , null ] } `)
	f.Add(`1 2`)
	f.Add(``)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := write(json.RawMessage(text))
		want, wantErr := json.Marshal(json.RawMessage(text))
		if errors.Is(err, ErrTooDeep) || errors.Is(err, ErrTooLarge) {
			return
		}
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%q: %v, want %v", text, err, wantErr)
		}
		if err == nil && !equalJSON(t, got, string(want)) && !strings.ContainsAny(text, "<>&\u2028\u2029") {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// FuzzWriter shows that whatever encoding/json can read is written as the same
// value, in valid JSON, whatever its strings hold.
func FuzzWriter(f *testing.F) {
	f.Add(`{"a":[1,2.5,"x",null,true,{"b":{}}]}`, "key", "value\xff\x00<")
	f.Add(`[1e-7,1e21,-0,1E400]`, "\xed\xa0\x80", "\u2028")
	f.Fuzz(func(t *testing.T, text, key, value string) {
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			v = text
		}
		var w Writer
		w.Start(1 << 24)
		w.Text("text", value)
		w.Map("map", map[string]any{key: v, "value": value}, nil)
		got, err := w.Finish()
		if errors.Is(err, ErrTooDeep) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		members := map[string]any{"map": map[string]any{key: v, "value": value}}
		if value != "" {
			members["text"] = value
		}
		plain, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := json.Unmarshal(got, &a); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if err := json.Unmarshal(plain, &b); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("got  %s\nwant %s", got, plain)
		}
	})
}

// props is what a track call of a shop holds.
func props() map[string]any {
	return map[string]any{
		"orderId": "o-1234", "total": 149.95, "revenue": 129.5, "currency": "EUR", "coupon": nil, "gift": false, "items": 2,
		"products": []any{
			map[string]any{"productId": "p-1", "name": "Kettle", "price": 49.95, "quantity": 1},
			map[string]any{"productId": "p-2", "name": "Tea, loose", "price": 25, "quantity": 4},
		},
		"note": strings.Repeat("Lorem ipsum dolor sit amet, ", 20),
	}
}

func TestAllocations(t *testing.T) {
	var w Writer
	m := props()
	got := testing.AllocsPerRun(100, func() {
		w.Start(32_768)
		w.Map("properties", m, nil)
		if _, err := w.Finish(); err != nil {
			t.Fatal(err)
		}
	})
	if got > 0 {
		t.Errorf("%v allocations a message, want none", got)
	}
}

func BenchmarkWriter(b *testing.B) {
	var w Writer
	m := props()
	b.ReportAllocs()
	for b.Loop() {
		w.Start(32_768)
		w.Map("properties", m, nil)
		_, _ = w.Finish()
	}
}

func BenchmarkEncodingJSON(b *testing.B) {
	m := map[string]any{"properties": props()}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = json.Marshal(m)
	}
}
