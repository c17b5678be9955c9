package receiver

import (
	"bytes"
	"encoding/json"

	"github.com/anabranch/anabranch/internal/terminal"
)

const (
	// width is the line that a value should fit on.
	width = 80
	// maxLevels is how deep values are broken into lines. Below it they stay on
	// one, however long, so that a body of ten thousand brackets is not looked
	// through ten thousand times.
	maxLevels = 8
)

// appendJSON writes valid JSON indented by two spaces, in the order it came in.
// An object or array that fits on its line stays there. What a terminal would
// act on or not show is written as \u escapes, which leaves it the same JSON.
func appendJSON(dst, text []byte) []byte {
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return appendRaw(dst, text)
	}
	safe := terminal.AppendPrintable(make([]byte, 0, compact.Len()), compact.Bytes())
	dst = append(dst, "  "...)
	return appendValue(dst, safe, 1, 0)
}

// appendValue writes one compact value at an indent of 2 × level; taken is what
// its line already holds beside the indent.
func appendValue(dst, value []byte, level, taken int) []byte {
	if onOneLine(value, level, taken) {
		return appendSpaced(dst, value)
	}
	dst = append(dst, value[0])
	members := value[1 : len(value)-1]
	for len(members) > 0 {
		var member []byte
		member, members = cutAt(members, ',')
		dst = appendMember(appendIndent(dst, level+1), member, value[0] == '{', level+1)
		if len(members) > 0 {
			dst = append(dst, ',')
		}
	}
	return append(appendIndent(dst, level), value[len(value)-1])
}

func onOneLine(value []byte, level, taken int) bool {
	container := value[0] == '{' || value[0] == '['
	if !container || len(value) == len("{}") || level > maxLevels {
		return true
	}
	// The body itself is always broken: its members are what one looks for.
	return level > 1 && 2*level+taken+spacedLen(value) <= width
}

func appendMember(dst, member []byte, keyed bool, level int) []byte {
	taken := len(",")
	if keyed {
		var key []byte
		key, member = cutAt(member, ':')
		dst = append(append(dst, key...), ": "...)
		taken += len(key) + len(": ")
	}
	return appendValue(dst, member, level, taken)
}

func appendIndent(dst []byte, level int) []byte {
	dst = append(dst, '\n')
	for range level {
		dst = append(dst, "  "...)
	}
	return dst
}

// cutAt splits compact JSON at the first sep outside strings and brackets.
func cutAt(text []byte, sep byte) (before, after []byte) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			i += stringLen(text[i:]) - 1
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == sep && depth == 0:
			return text[:i], text[i+1:]
		}
	}
	return text, nil
}

// stringLen is the length of the JSON string that text begins with.
func stringLen(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// appendSpaced writes compact JSON on one line with a space behind each comma
// and colon.
func appendSpaced(dst, value []byte) []byte {
	for i := 0; i < len(value); i++ {
		switch c := value[i]; c {
		case '"':
			n := stringLen(value[i:])
			dst = append(dst, value[i:i+n]...)
			i += n - 1
		case ',', ':':
			dst = append(dst, c, ' ')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// spacedLen is the length of what appendSpaced writes, or more than width as
// soon as it is clear that it is.
func spacedLen(value []byte) int {
	if len(value) > width {
		return len(value)
	}
	return len(appendSpaced(make([]byte, 0, 2*width), value))
}
