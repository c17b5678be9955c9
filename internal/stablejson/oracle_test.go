package stablejson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// The oracle does the same the slow way: it builds a tree from the tokens of
// encoding/json and prints it by the letter of ECMAScript.

func TestAppendMatchesOracle(t *testing.T) {
	g := generator{Rand: rand.New(rand.NewPCG(1, 2)), loneSurrogates: true}
	for range 5_000 {
		text := g.text()
		got, err := stablejson.Append(nil, text)
		if err != nil {
			t.Fatalf("Append(%q): %v", text, err)
		}
		if want := oracle(t, text); string(got) != want {
			t.Fatalf("Append(%q)\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestAppendIsIdempotent(t *testing.T) {
	g := generator{Rand: rand.New(rand.NewPCG(3, 4)), loneSurrogates: true, illFormed: true}
	for range 5_000 {
		text := g.text()
		once, err := stablejson.Append(nil, text)
		if err != nil {
			t.Fatalf("Append(%q): %v", text, err)
		}
		twice, err := stablejson.Append(nil, once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("Append(%q)\nonce  %q\ntwice %q, %v", text, once, twice, err)
		}
	}
}

// Damaged texts: accepted just when encoding/json accepts them.
func TestAppendAcceptsWhatIsJSON(t *testing.T) {
	g := generator{Rand: rand.New(rand.NewPCG(5, 6)), loneSurrogates: true, illFormed: true}
	accepted := 0
	for range 10_000 {
		text := g.text()
		at := g.IntN(len(text))
		text[at] = "0.eE+-\"\\{}[]:,tfnu \t\x00\x1f\xffx"[g.IntN(24)]
		_, err := stablejson.Append(nil, text)
		if (err == nil) != json.Valid(text) {
			t.Fatalf("Append(%q): got %v, json.Valid says %t", text, err, json.Valid(text))
		}
		if err == nil {
			accepted++
		}
	}
	if accepted == 0 || accepted == 10_000 {
		t.Errorf("%d texts accepted: the damage shows nothing", accepted)
	}
}

func TestAppendFloatMatchesOracle(t *testing.T) {
	floats := []float64{
		0, math.Copysign(0, -1), 1, -1, 0.1, 1e-6, 9.999e-7, 1e-7, 1e20, 1e21, 1.5e300, 999999999999999868928,
		math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 53, math.Inf(1), math.Inf(-1), math.NaN(),
	}
	random := rand.New(rand.NewPCG(7, 8))
	for range 100_000 {
		f := math.Float64frombits(random.Uint64())
		floats = append(floats, f, random.NormFloat64())
	}
	for _, f := range floats {
		if got, want := string(stablejson.AppendFloat(nil, f)), oracleNumber(f); got != want {
			t.Fatalf("AppendFloat(%b): got %s, want %s", f, got, want)
		}
	}
}

// tree is an object with its keys in order of first appearance.
type tree struct {
	keys   []string
	values map[string]any
}

func oracle(t *testing.T, text []byte) string {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return oracleText(oracleTree(t, decoder))
}

func oracleTree(t *testing.T, decoder *json.Decoder) any {
	t.Helper()
	token, err := decoder.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch token {
	case json.Delim('['):
		elements := []any{}
		for decoder.More() {
			elements = append(elements, oracleTree(t, decoder))
		}
		_, _ = decoder.Token()
		return elements
	case json.Delim('{'):
		object := tree{values: map[string]any{}}
		for decoder.More() {
			key := oracleTree(t, decoder).(string)
			if _, known := object.values[key]; !known {
				object.keys = append(object.keys, key)
			}
			object.values[key] = oracleTree(t, decoder)
		}
		_, _ = decoder.Token()
		return object
	}
	return token
}

func oracleText(value any) string {
	switch value := value.(type) {
	case json.Number:
		f, _ := strconv.ParseFloat(value.String(), 64)
		return oracleNumber(f)
	case string:
		return oracleString(value)
	case []any:
		var parts []string
		for _, element := range value {
			parts = append(parts, oracleText(element))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case tree:
		slices.SortStableFunc(value.keys, func(a, b string) int {
			return int(oracleIndex(a) - oracleIndex(b))
		})
		var parts []string
		for _, key := range value.keys {
			parts = append(parts, oracleString(key)+":"+oracleText(value.values[key]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case nil:
		return "null"
	default:
		return fmt.Sprint(value)
	}
}

// oracleIndex returns the array index that key is, 2^32-1 for any other key.
func oracleIndex(key string) int64 {
	index, err := strconv.ParseUint(key, 10, 32)
	if err != nil || strconv.FormatUint(index, 10) != key {
		return math.MaxUint32
	}
	return int64(index)
}

func oracleString(s string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	var b strings.Builder
	for _, c := range s {
		switch escape, ok := short[c]; {
		case ok:
			b.WriteString(escape)
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	return `"` + b.String() + `"`
}

// oracleNumber is Number::toString of ECMAScript: k digits s and an exponent n
// such that the value is s × 10^(n-k), and then one case after the other.
func oracleNumber(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "null"
	case f == 0:
		return "0"
	case f < 0:
		return "-" + oracleNumber(-f)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	s := strings.Replace(mantissa, ".", "", 1)
	k := utf8.RuneCountInString(s)
	n, _ := strconv.Atoi(exponent)
	n++
	switch {
	case k <= n && n <= 21:
		return s + strings.Repeat("0", n-k)
	case 0 < n && n <= 21:
		return s[:n] + "." + s[n:]
	case -6 < n && n <= 0:
		return "0." + strings.Repeat("0", -n) + s
	case k == 1:
		return fmt.Sprintf("%se%+d", s, n-1)
	default:
		return fmt.Sprintf("%s.%se%+d", s[:1], s[1:], n-1)
	}
}
