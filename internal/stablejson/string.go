package stablejson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendString appends s as a stable JSON string. Ill-formed UTF-8 becomes
// U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for text := []byte(s); ; {
		var n int
		dst, n = appendClean(dst, text)
		if n == len(text) {
			return append(dst, '"')
		}
		dst = appendEscaped(dst, text[n])
		text = text[n+1:]
	}
}

// Text returns the Go string of a stable JSON string, false when value is of
// another kind.
func Text(value []byte) (string, bool) {
	if KindOf(value) != KindString {
		return "", false
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	return string(unescape(nil, inner)), true
}

// appendString reads the string at r.pos.
func (r *Reader) appendString(dst []byte) ([]byte, error) {
	end := r.pos + 1
	end += plain(r.text[end:])
	if end < len(r.text) && r.text[end] == '"' {
		dst = append(dst, r.text[r.pos:end+1]...)
		r.pos = end + 1
		return dst, nil
	}
	r.pos++
	return r.appendRest(append(dst, '"'))
}

// appendRest reads a string from behind its opening quote.
func (r *Reader) appendRest(dst []byte) ([]byte, error) {
	for {
		var n int
		dst, n = appendClean(dst, r.text[r.pos:])
		r.pos += n
		if r.pos == len(r.text) {
			return dst, r.fail("expected '\"' at the end of the string")
		}
		switch r.text[r.pos] {
		case '"':
			r.pos++
			return append(dst, '"'), nil
		case '\\':
			var err error
			if dst, err = r.appendEscape(dst); err != nil {
				return dst, err
			}
		default:
			return dst, r.fail("control character in string")
		}
	}
}

// appendEscape reads the escape sequence at r.pos.
func (r *Reader) appendEscape(dst []byte) ([]byte, error) {
	r.pos++
	if r.pos == len(r.text) {
		return dst, r.fail("expected an escape sequence")
	}
	switch c := r.text[r.pos]; c {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		r.pos++
		return append(dst, '\\', c), nil
	case '/':
		r.pos++
		return append(dst, '/'), nil
	case 'u':
		return r.appendUnicode(dst)
	default:
		return dst, r.fail("unknown escape sequence in string")
	}
}

// appendUnicode reads an escaped UTF-16 code unit from its u on, and the second
// half of a surrogate pair with it.
func (r *Reader) appendUnicode(dst []byte) ([]byte, error) {
	c, ok := hex4(r.text[r.pos+1:])
	if !ok {
		return dst, r.fail("expected four hexadecimal digits after \\u")
	}
	r.pos += len("uFFFF")
	if utf16.IsSurrogate(c) {
		c = r.pair(c)
	}
	if c < ' ' || c == '"' || c == '\\' {
		return appendEscaped(dst, byte(c)), nil
	}
	return utf8.AppendRune(dst, c), nil
}

// pair reads the second half of a surrogate pair when there is one. Otherwise
// it reads nothing and returns U+FFFD: what follows may begin a pair of its own.
func (r *Reader) pair(first rune) rune {
	rest := r.text[r.pos:]
	if !bytes.HasPrefix(rest, []byte(`\u`)) {
		return utf8.RuneError
	}
	second, _ := hex4(rest[len(`\u`):])
	c := utf16.DecodeRune(first, second)
	if c != utf8.RuneError {
		r.pos += len(`\uFFFF`)
	}
	return c
}

func hex4(text []byte) (c rune, ok bool) {
	if len(text) < 4 {
		return 0, false
	}
	for _, digit := range text[:4] {
		switch {
		case '0' <= digit && digit <= '9':
			digit -= '0'
		case 'a' <= digit && digit <= 'f':
			digit -= 'a' - 10
		case 'A' <= digit && digit <= 'F':
			digit -= 'A' - 10
		default:
			return 0, false
		}
		c = c<<4 | rune(digit)
	}
	return c, true
}
