package plan

import "bytes"

// members walks the members of a stable JSON object. What decode hands out is
// stable: there is no white space in it and nothing in it that is no JSON, so one
// pass over the brackets and quotes takes it apart. A stablejson.Reader would
// validate and copy it all once more.
type members struct {
	rest       []byte // from the next key on; or the end of the object
	key, value []byte // of the member found last, the key without its quotes
}

// membersOf walks object, nil for an empty one.
func membersOf(object []byte) members {
	if len(object) <= len(`{}`) {
		return members{}
	}
	return members{rest: object[1:]}
}

// next reports whether there was another member.
func (m *members) next() bool {
	if len(m.rest) == 0 {
		return false
	}
	end := stringEnd(m.rest)
	m.key, m.rest = m.rest[1:end-1], m.rest[end+len(`:`):]
	end = valueEnd(m.rest)
	m.value = m.rest[:end]
	m.rest = m.rest[end+len(`,`):] // or the closing bracket, with nothing behind it
	return true
}

// valueEnd returns how many bytes the value at the start of text has.
func valueEnd(text []byte) int {
	switch text[0] {
	case '"':
		return stringEnd(text)
	case '{', '[':
		return nestedEnd(text)
	default:
		return scalarEnd(text)
	}
}

// scalarEnd is valueEnd of a number, of true, false and null.
func scalarEnd(text []byte) int {
	for i, c := range text {
		if c == ',' || c == '}' || c == ']' {
			return i
		}
	}
	return len(text)
}

// nestedEnd is valueEnd of an object or array.
func nestedEnd(text []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch text[i] {
		case '"':
			i += stringEnd(text[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// stringEnd is valueEnd of a string.
func stringEnd(text []byte) int {
	for end := 1; ; end++ {
		end += bytes.IndexByte(text[end:], '"')
		escapes := 0
		for text[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end + 1
		}
	}
}
