package rawtext

import "github.com/anabranch/anabranch/schemas"

// CutDeep replaces, in place, each array and object that lies too deep in text by
// a zero and white space, and returns the offsets of the zeros, ascending. What it
// cuts out it looks at for brackets and strings alone.
func CutDeep(text []byte) (cuts []int) {
	depth, from, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth == schemas.MaxDepth+1 {
				from = i
			}
		case c == '}' || c == ']':
			if depth == schemas.MaxDepth+1 {
				blank(text[from : i+1])
				cuts = append(cuts, from)
			}
			depth--
		}
	}
	return cuts
}

// blank makes text a zero.
func blank(text []byte) {
	for i := range text {
		text[i] = ' '
	}
	text[0] = '0'
}
