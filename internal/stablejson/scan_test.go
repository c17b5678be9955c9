package stablejson

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"
	"unicode/utf8"
)

// Eight bytes at a time must stop where one at a time does: every byte, at
// every place of a word, in front of all others.
func TestPlainStopsAtEveryByteThatIsNot(t *testing.T) {
	for size := range 20 {
		for at := range size {
			for c := range 256 {
				text := bytes.Repeat([]byte{' ', '~', '!', 0x7F, '#', '[', ']'}, 3)[:size]
				text[at] = byte(c)
				want := size
				if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
					want = at
				}
				if got := plain(text); got != want {
					t.Fatalf("plain(%q): got %d, want %d", text, got, want)
				}
				// What stands behind must not be seen first.
				text = append(text, "\"\x00\\\xFF"...)
				if got := plain(text); got != want {
					t.Fatalf("plain(%q): got %d, want %d", text, got, want)
				}
			}
		}
	}
}

func TestPlainOnRandomBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		text := make([]byte, random.IntN(30))
		for i := range text {
			text[i] = byte(random.IntN(256))
		}
		want := bytes.IndexFunc(text, func(c rune) bool { return c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf })
		if want < 0 {
			want = len(text)
		}
		if got := plain(text); got != want {
			t.Fatalf("plain(%q): got %d, want %d", text, got, want)
		}
	}
}

// A literal is only copied when converting it would give the same text.
func TestNumberStableIsNeverWrong(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	copied := 0
	for range 300_000 {
		literal := randomDecimal(random)
		r := Reader{text: literal}
		n, err := r.number()
		if err != nil || r.pos != len(literal) {
			t.Fatalf("number(%s): %v at %d", literal, err, r.pos)
		}
		if !n.stable() {
			continue
		}
		copied++
		f, _ := strconv.ParseFloat(string(literal), 64)
		if want := AppendFloat(nil, f); !bytes.Equal(literal, want) {
			t.Fatalf("%s is taken for stable, but prints as %s", literal, want)
		}
	}
	if copied < 100_000 {
		t.Errorf("only %d literals copied: the test shows little", copied)
	}
}

func TestNumberStableSparesOrdinaryNumbers(t *testing.T) {
	for _, literal := range []string{
		"0", "-1", "42", "1795223069458", "999999999999999", "9007199254740991", "-9007199254740992",
		"149.95", "-0.5", "0.000012", "52.520008", "13.404954", "123456789.012345",
	} {
		r := Reader{text: []byte(literal)}
		if n, err := r.number(); err != nil || !n.stable() {
			t.Errorf("%s is converted (%v)", literal, err)
		}
	}
}

// randomDecimal returns up to 17 digits with a point anywhere or nowhere.
func randomDecimal(random *rand.Rand) []byte {
	digits := []byte(strconv.FormatUint(1e17+random.Uint64N(9e17), 10))[1:]
	digits = digits[:1+random.IntN(len(digits))]
	point := random.IntN(len(digits) + 1)
	whole, decimal := bytes.TrimLeft(digits[:point], "0"), digits[point:]
	literal := []byte(nil)
	if random.IntN(2) == 0 {
		literal = append(literal, '-')
	}
	if len(whole) == 0 {
		whole = []byte("0")
	}
	literal = append(literal, whole...)
	if len(decimal) > 0 {
		literal = append(append(literal, '.'), decimal...)
	}
	return literal
}
