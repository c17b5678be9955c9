package stablejson

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// appendClean appends text up to the first byte that can't stand in a string
// as it is (quote, backslash, control character), with ill-formed UTF-8 repaired,
// and returns how many bytes of text that took.
func appendClean(dst, text []byte) ([]byte, int) {
	from, i := 0, 0
	for {
		i += plain(text[i:])
		if i == len(text) || text[i] < utf8.RuneSelf {
			return append(dst, text[from:i]...), i
		}
		if _, size := utf8.DecodeRune(text[i:]); size > 1 {
			i += size
			continue
		}
		dst = append(dst, text[from:i]...)
		dst = append(dst, string(utf8.RuneError)...)
		i += illFormed(text[i:])
		from = i
	}
}

// plain returns how many bytes of text, from the first on, are ASCII that
// stands in a string as it is. Eight bytes are looked at together: strings are
// most of an event, and with one at a time a whole event took 1.4 times as long.
func plain(text []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		// The top bit of a byte is set where a subtraction borrows, so for
		// control characters, quote and backslash, and in w itself for what is
		// not ASCII. A borrow runs into later bytes only: the first one is exact.
		stop := (w - ' '*ones) | ((w ^ '"'*ones) - ones) | ((w ^ '\\'*ones) - ones) | w
		if stop &= tops; stop != 0 {
			return i + bits.TrailingZeros64(stop)/8
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// illFormed returns the length of the maximal part of the ill-formed sequence
// at the start of text: the longest prefix that could have begun a well-formed
// one, at least 1 (Unicode, table 3-7; WHATWG decoders replace each such part by
// one U+FFFD, where Go replaces each byte).
func illFormed(text []byte) int {
	lead, low, high := text[0], byte(0x80), byte(0xBF)
	switch {
	case lead < 0xE0 || lead > 0xF4:
		return 1
	case lead == 0xE0:
		low = 0xA0
	case lead == 0xED:
		high = 0x9F
	case lead == 0xF0:
		low = 0x90
	case lead == 0xF4:
		high = 0x8F
	}
	if len(text) < 2 || text[1] < low || text[1] > high {
		return 1
	}
	if lead < 0xF0 || len(text) < 3 || utf8.RuneStart(text[2]) {
		return 2
	}
	return 3
}

// appendEscaped appends the escape sequence of a quote, a backslash or a
// control character.
func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	default:
		const digits = "0123456789abcdef"
		return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
	}
}

// unescape appends what stands between the quotes of a stable string, decoded.
// dst may be the memory right before inner.
func unescape(dst, inner []byte) []byte {
	for i := 0; i < len(inner); i++ {
		c := inner[i]
		if c == '\\' {
			i++
			if c = inner[i]; c == 'u' {
				unit, _ := hex4(inner[i+1:])
				c = byte(unit)
				i += 4
			} else {
				c = unescaped(c)
			}
		}
		dst = append(dst, c)
	}
	return dst
}

// unescaped returns the character that a backslash and c stand for.
func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	default:
		return c
	}
}
