package stablejson

import "slices"

// Append appends the stable form of text, which must be exactly one JSON value
// with nothing but white space around it. On error, a *SyntaxError, dst is
// returned as it was.
func Append(dst, text []byte) ([]byte, error) {
	var r Reader
	r.Reset(text)
	// The stable form is rarely longer than the text: one growth, not ten.
	out, err := r.Append(slices.Grow(dst, len(text)))
	if err != nil {
		return dst, err
	}
	if err := r.End(); err != nil {
		return dst, err
	}
	return out, nil
}
