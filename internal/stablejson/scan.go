package stablejson

// peek passes over white space and returns the byte behind it, 0 at the end:
// no token begins with NUL, so one comparison does for both.
func (r *Reader) peek() byte {
	if r.pos < len(r.text) && r.text[r.pos] > ' ' {
		return r.text[r.pos]
	}
	return r.skipSpace()
}

func (r *Reader) skipSpace() byte {
	for i, c := range r.text[r.pos:] {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			r.pos += i
			return c
		}
	}
	r.pos = len(r.text)
	return 0
}

// enter passes over an opening bracket, and over the closing one too when
// nothing is between them: more is then false.
func (r *Reader) enter(closing byte) (more bool, err error) {
	if r.depth == MaxDepth {
		return false, &SyntaxError{Offset: r.pos, Problem: ErrTooDeep.Error(), cause: ErrTooDeep}
	}
	r.depth++
	r.pos++
	if r.peek() == closing {
		r.leave()
		return false, nil
	}
	return true, nil
}

// next passes over what stands behind an element: a comma, or the closing
// bracket, and more is then false.
func (r *Reader) next(closing byte) (more bool, err error) {
	switch r.peek() {
	case ',':
		r.pos++
		return true, nil
	case closing:
		r.leave()
		return false, nil
	}
	if closing == '}' {
		return false, r.fail("expected ',' or '}' after object member")
	}
	return false, r.fail("expected ',' or ']' after array element")
}

func (r *Reader) leave() {
	r.pos++
	r.depth--
}

// colon passes over what stands between a key and its value.
func (r *Reader) colon() error {
	if r.peek() != ':' {
		return r.fail("expected ':' after object key")
	}
	r.pos++
	return nil
}

// fail returns the error for the byte at r.pos.
//
//go:noinline
func (r *Reader) fail(problem string) error {
	if r.pos >= len(r.text) {
		problem = "text ends early: " + problem
	}
	return &SyntaxError{Offset: r.pos, Problem: problem}
}
