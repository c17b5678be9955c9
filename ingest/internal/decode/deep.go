package decode

import (
	"github.com/anabranch/anabranch/schemas"
)

// parseDeep gives a batch that was refused with err for its nesting another
// try, with everything too deep cut out of body: one such call must not cost the
// others (protocol, 7). A cut outside the calls stays an error.
func (d *Decoder) parseDeep(body []byte, err error) error {
	cuts := cutDeep(body)
	if len(cuts) == 0 {
		return err
	}
	if again := d.walk(body); again != nil {
		return again
	}
	for i := range d.calls {
		c := &d.calls[i]
		for len(cuts) > 0 && cuts[0] >= c.from && cuts[0] < c.from+c.bytes {
			c.deep = true
			cuts = cuts[1:]
		}
	}
	if len(cuts) > 0 {
		return err
	}
	return nil
}

// cutDeep replaces, in place, each array and object that lies too deep in text by
// a zero and white space, and returns the offsets of the zeros, ascending. What it
// cuts out it looks at for brackets and strings alone.
func cutDeep(text []byte) (cuts []int) {
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
