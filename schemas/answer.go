package schemas

import (
	"strconv"
	"strings"
)

// escapeAnswer writes what an endpoint answered as in a literal of Go, without the quotes: its
// text stays legible, and no tool that prints a header acts on it. It is cut before, and takes
// four bytes for one at most.
func escapeAnswer(answer []byte) string {
	quoted := strconv.Quote(cut(string(answer), MaxAnswerBytes))
	// A quotation mark is escaped for the sake of the quotes alone, and each backslash before
	// another by one of its own: so these two belong together.
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// decodeAnswer passes over what is no answer: what a receiver said is no reason not to read a
// record.
func decodeAnswer(dst *[]byte, value []byte) {
	const longest = 4 * MaxAnswerBytes
	if len(value) == 0 || len(value) > longest {
		return
	}
	answer := make([]byte, 0, len(value))
	for rest := string(value); rest != ""; {
		r, multibyte, tail, err := strconv.UnquoteChar(rest, 0)
		switch {
		case err != nil:
			return
		case multibyte:
			answer = append(answer, string(r)...)
		default:
			answer = append(answer, byte(r))
		}
		rest = tail
	}
	if len(answer) <= MaxAnswerBytes {
		*dst = answer
	}
}
