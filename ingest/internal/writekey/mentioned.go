package writekey

import (
	"bytes"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/internal/workspace"
)

// Mentioned reports whether a good key stands under writeKey anywhere in a body,
// which need not be JSON: without one, it is not worth a parser's time. It is a
// search for a few bytes, and says nothing of what is the key of the body. A name
// that is spelled with escape sequences is not found; no SDK has one.
func Mentioned(body []byte, good func(key string) bool) bool {
	for rest, found := after(body); found; rest, found = after(rest) {
		if key, ok := stringBehindColon(rest); ok && good(key) {
			return true
		}
	}
	return false
}

// after returns what stands behind the first name in text.
func after(text []byte) (rest []byte, found bool) {
	_, rest, found = bytes.Cut(text, []byte(`"writeKey"`))
	return rest, found
}

// stringBehindColon returns the string that stands at the begin of text, behind a
// colon, if it is short enough for a key.
func stringBehindColon(text []byte) (string, bool) {
	const space, escape = " \t\r\n", len(`\u0000`)
	text, colon := bytes.CutPrefix(bytes.TrimLeft(text, space), []byte(":"))
	text = bytes.TrimLeft(text, space)
	if !colon || len(text) == 0 || text[0] != '"' {
		return "", false
	}
	for i := 1; i < min(len(text), escape*workspace.MaxWriteKeyBytes+2); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			value, err := stablejson.Append(nil, text[:i+1])
			if err != nil {
				return "", false
			}
			return stablejson.Text(value)
		}
	}
	return "", false
}
