package stablejson_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// generator writes random JSON texts with everything in them that the rules are
// about: white space, all forms of numbers and escapes, keys that repeat, keys that
// are array indices or nearly so.
type generator struct {
	*rand.Rand
	strings.Builder

	// loneSurrogates and illFormed also allow what becomes U+FFFD.
	loneSurrogates, illFormed bool
}

func (g *generator) text() []byte {
	g.Reset()
	g.value(4)
	g.space()
	return []byte(g.String())
}

func (g *generator) value(depth int) {
	g.space()
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch g.IntN(kinds) {
	case 0:
		g.WriteString(g.pick("true", "false", "null"))
	case 1, 2:
		g.number()
	case 3:
		g.str()
	case 4:
		g.list("[", "]", func() { g.value(depth - 1) })
	case 5:
		g.list("{", "}", func() {
			g.space()
			g.key()
			g.space()
			g.WriteByte(':')
			g.value(depth - 1)
		})
	}
}

func (g *generator) list(opening, closing string, element func()) {
	size := g.IntN(6)
	if g.IntN(20) == 0 {
		size = 30 + g.IntN(10) // around the border of the small paths
	}
	g.WriteString(opening)
	for i := range size {
		if i > 0 {
			g.WriteByte(',')
		}
		element()
		g.space()
	}
	if size == 0 {
		g.space()
	}
	g.WriteString(closing)
}

func (g *generator) space() {
	if g.IntN(6) == 0 {
		g.WriteString(g.pick(" ", "\t", "\n", "\r", " \r\n\t "))
	}
}

func (g *generator) key() {
	switch g.IntN(4) {
	case 0:
		fmt.Fprintf(g, "%q", strconv.Itoa(g.IntN(12)))
	case 1:
		fmt.Fprintf(g, "%q", g.pick("a", "b", "ab", "userId", "__proto__", "", "toString"))
	case 2:
		fmt.Fprintf(g, "%q", g.pick("4294967294", "4294967295", "4294967296", "00", "01", "-1", "1.0", "1e3", "10000000000"))
	default:
		g.str()
	}
}

func (g *generator) number() {
	if g.IntN(2) == 0 {
		g.WriteString(g.pick("-", ""))
	}
	switch g.IntN(6) {
	case 0: // any float64 there is
		f := math.Float64frombits(g.Uint64() &^ (1 << 63))
		if math.IsInf(f, 0) || math.IsNaN(f) {
			f = 1
		}
		format := g.pick("e", "f", "g")[0]
		g.WriteString(strconv.FormatFloat(f, format, -1, 64))
	case 1: // digits around the exact ones
		g.digits(1 + g.IntN(20))
	case 2:
		g.digits(1 + g.IntN(4))
		g.WriteByte('.')
		g.fraction()
	case 3:
		g.WriteString("0.")
		g.fraction()
	case 4:
		g.digits(1 + g.IntN(3))
		g.WriteString(g.pick("", ".5", ".0"))
		fmt.Fprintf(g, "%s%s%d", g.pick("e", "E"), g.pick("", "+", "-"), g.IntN(g.pickInt(10, 30, 400)))
	default:
		g.WriteString(g.pick("0", "9007199254740991", "9007199254740993", "999999999999999999999", "1000000000000000000000", "0.000001", "0.0000001"))
	}
}

func (g *generator) digits(n int) {
	g.WriteByte("123456789"[g.IntN(9)])
	for range n - 1 {
		g.WriteByte("0123456789"[g.IntN(10)])
	}
}

func (g *generator) fraction() {
	for range 1 + g.IntN(18) {
		g.WriteByte("0000123456789"[g.IntN(13)])
	}
}

func (g *generator) str() {
	g.WriteByte('"')
	for range g.IntN(g.pickInt(4, 12, 40)) {
		switch g.IntN(8) {
		case 0:
			g.WriteString(g.pick(`\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`))
		case 1:
			fmt.Fprintf(g, g.pick(`\u%04x`, `\u%04X`), g.unit())
		case 2:
			g.WriteString(g.pick(`\ud83d\ude00`, `\uDBFF\uDFFF`, "\U0001F600", "\u2028", "é", "語", "\x7f", "\uFFFD"))
		case 3:
			if g.illFormed {
				g.WriteString(g.pick("\x80", "\xc0\xaf", "\xe0\x80", "\xe2\x82", "\xed\xa0\x80", "\xf0\x9f\x98", "\xf4\x90", "\xf1", "\xff"))
			}
		default:
			g.WriteByte("abcXYZ 019/<>&'{}[]:,"[g.IntN(21)])
		}
	}
	g.WriteByte('"')
}

// unit returns a UTF-16 code unit, a surrogate only where those are allowed.
func (g *generator) unit() int {
	if g.loneSurrogates && g.IntN(2) == 0 {
		return 0xD800 + g.IntN(0x800)
	}
	return g.IntN(g.pickInt(0x20, 0x80, 0xD800))
}

func (g *generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g *generator) pickInt(from ...int) int { return from[g.IntN(len(from))] }
