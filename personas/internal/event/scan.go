package event

import (
	"bytes"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// Members walks the members of a stable JSON object. It allocates nothing and reads
// no more than it has to: an object within is passed over by its brackets.
type Members struct {
	text []byte
	pos  int
}

// MembersOf walks those of text; there are none unless it is an object.
func MembersOf(text []byte) Members {
	if stablejson.KindOf(text) != stablejson.KindObject {
		return Members{}
	}
	return Members{text, 1}
}

// Next returns the next member: the key as it stands between its quotes, and the value.
// False: there is none, or the text is broken.
func (m *Members) Next() (key, value []byte, ok bool) {
	if m.pos < len(m.text) && m.text[m.pos] == ',' {
		m.pos++
	}
	if m.pos >= len(m.text) || m.text[m.pos] != '"' {
		return nil, nil, false
	}
	colon := behindString(m.text, m.pos)
	if colon < 0 || colon >= len(m.text) || m.text[colon] != ':' {
		return nil, nil, false
	}
	end := behindValue(m.text, colon+1)
	if end < 0 {
		return nil, nil, false
	}
	key, value = m.text[m.pos+1:colon-1], m.text[colon+1:end]
	m.pos = end
	return key, value, true
}

// behindString returns the offset behind the string whose opening quote is at i, -1 if
// it does not end.
func behindString(text []byte, i int) int {
	i++
	for {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return -1
		}
		end := i + n
		slashes := 0
		for slashes < n && text[end-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end + 1
		}
		i = end + 1
	}
}

// behindValue returns the offset behind the value at i, -1 if there is none.
func behindValue(text []byte, i int) int {
	if i >= len(text) {
		return -1
	}
	switch text[i] {
	case '"':
		return behindString(text, i)
	case '{', '[':
		return behindBrackets(text, i)
	}
	start := i
	for i < len(text) && text[i] != ',' && text[i] != '}' && text[i] != ']' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// behindBrackets is behindValue for an object or array. Its brackets are counted, not
// matched: the text is known to be in order.
func behindBrackets(text []byte, i int) int {
	for depth := 0; i < len(text); {
		switch text[i] {
		case '"':
			if i = behindString(text, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// elements calls visit for each element of an array until it returns true, and reports
// whether one did.
func elements(text []byte, visit func(value []byte) bool) bool {
	if stablejson.KindOf(text) != stablejson.KindArray {
		return false
	}
	for i := 1; i < len(text) && text[i] != ']'; {
		end := behindValue(text, i)
		if end < 0 {
			return false
		}
		if visit(text[i:end]) {
			return true
		}
		if i = end; i < len(text) && text[i] == ',' {
			i++
		}
	}
	return false
}
