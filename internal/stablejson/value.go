package stablejson

// appendValue reads the next value. On error what it returns is dst with a part
// of the value behind it.
func (r *Reader) appendValue(dst []byte) ([]byte, error) {
	switch r.peek() {
	case '"':
		return r.appendString(dst)
	case '{':
		return r.appendObject(dst)
	case '[':
		return r.appendArray(dst)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return r.appendNumber(dst)
	case 't':
		return r.appendLiteral(dst, "true")
	case 'f':
		return r.appendLiteral(dst, "false")
	case 'n':
		return r.appendLiteral(dst, "null")
	default:
		return dst, r.fail("expected a value")
	}
}

func (r *Reader) appendLiteral(dst []byte, literal string) ([]byte, error) {
	end := r.pos + len(literal)
	if end > len(r.text) || string(r.text[r.pos:end]) != literal {
		return dst, r.fail("expected " + literal)
	}
	r.pos = end
	return append(dst, literal...), nil
}

func (r *Reader) appendArray(dst []byte) ([]byte, error) {
	dst = append(dst, '[')
	open := len(dst)
	more, err := r.enter(']')
	for more {
		if dst, err = r.appendValue(dst); err != nil {
			return dst, err
		}
		dst = append(dst, ',')
		more, err = r.next(']')
	}
	return closeWith(dst, open, ']'), err
}

func (r *Reader) appendObject(dst []byte) ([]byte, error) {
	dst = append(dst, '{')
	open, mark := len(dst), len(r.members)
	dst, err := r.appendMembers(dst)
	if err != nil {
		return dst, err
	}
	if own := r.members[mark:]; r.wants(own) && !arranged(dst, own) {
		dst = rewrite(dst, open, arrange(dst, own))
	}
	r.members = r.members[:mark]
	return closeWith(dst, open, '}'), nil
}

// appendMembers reads an object as it stands, each member with a comma behind
// it and without brackets, and leaves the members on r.members.
func (r *Reader) appendMembers(dst []byte) ([]byte, error) {
	mark := len(r.members)
	more, err := r.enter('}')
	for more {
		start := len(dst)
		if dst, err = r.appendKey(dst); err != nil {
			return dst, err
		}
		colon := len(dst)
		dst = append(dst, ':')
		if dst, err = r.appendValue(dst); err != nil {
			return dst, err
		}
		if r.wants(r.members[mark:]) {
			r.members = append(r.members, newMember(dst, start, colon))
			dst = append(dst, ',')
		} else {
			dst = dst[:start]
		}
		more, err = r.next('}')
	}
	return dst, err
}

// appendKey reads a key and the colon behind it, and appends the key alone.
func (r *Reader) appendKey(dst []byte) ([]byte, error) {
	if r.peek() != '"' {
		return dst, r.fail("expected object key")
	}
	dst, err := r.appendString(dst)
	if err != nil {
		return dst, err
	}
	return dst, r.colon()
}

// key reads a key and the colon behind it, and returns the key decoded.
func (r *Reader) key() ([]byte, error) {
	mark := len(r.scratch)
	stable, err := r.appendKey(r.scratch)
	if err != nil {
		return nil, err
	}
	// Decoding only ever shortens, so it is done in place.
	r.scratch = unescape(stable[:mark], stable[mark+1:len(stable)-1])
	return r.scratch[mark:], nil
}

// closeWith puts the bracket in the place of the last comma, or behind the
// opening bracket when nothing was appended since.
func closeWith(dst []byte, open int, bracket byte) []byte {
	if len(dst) == open {
		return append(dst, bracket)
	}
	dst[len(dst)-1] = bracket
	return dst
}
