package encode

import "unicode/utf8"

const hex = "0123456789abcdef"

// appendString appends a JSON string. Each byte that is not UTF-8 becomes
// U+FFFD, as with encoding/json.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from, i := 0, 0
	for i < len(s) {
		if plain[s[i]] {
			i++
			continue
		}
		if s[i] < utf8.RuneSelf {
			dst = appendEscape(append(dst, s[from:i]...), s[i])
			i++
			from = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(append(dst, s[from:i]...), string(utf8.RuneError)...)
			from = i + 1
		}
		i += size
	}
	return append(append(dst, s[from:]...), '"')
}

// plain tells the bytes that stand for themselves.
var plain = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
}
