package stablejson

// usualMembers is how many members of nested objects are open at once in an
// ordinary event.
const usualMembers = 32

// Reader walks one JSON text from front to back, validating all that it passes
// over. The zero value reads an empty text: call Reset first. A Reader that is
// Reset again keeps its buffers. After an error it is of no use until then. It is
// not for concurrent use.
type Reader struct {
	text  []byte
	pos   int
	depth int
	// useful is the offset behind which only few members of each object are kept.
	useful int

	// members notes those of the objects that are being copied, innermost last.
	// It is a stack in the Reader, since a slice that passes through recursive
	// functions ends on the heap once per object.
	members []member
	// scratch holds decoded keys, innermost last, and what Skip passes over.
	scratch []byte

	exact *exact // nil until a number needs it
}

// Reset makes r read text, which must not change until r is done with it.
func (r *Reader) Reset(text []byte) {
	r.text, r.pos, r.depth, r.useful = text, 0, 0, len(text)
	r.members, r.scratch = r.members[:0], r.scratch[:0]
	if cap(r.members) == 0 {
		r.members = make([]member, 0, usualMembers)
	}
}

// Kind returns the kind of the next value, KindInvalid when there is none. It
// passes over white space, so that Offset is then where the value begins.
func (r *Reader) Kind() Kind { return kindAt(r.peek()) }

// Discard tells r that what ends behind an offset is of little use to the caller:
// it is validated, but of an object that ends there members may be missing once it
// has more than a few, and keys may come twice. An object that is longer than it
// may be then costs no more than to read over it. Reset ends that.
func (r *Reader) Discard(behind int) { r.useful = min(behind, len(r.text)) }

// wants reports whether an object that has own members so far, the last of which
// ends here, is to have more, and in order.
func (r *Reader) wants(own []member) bool { return r.pos <= r.useful || len(own) <= few }

// Offset returns how many bytes were read. Inside Members and Elements, before
// the value is read, that is where the value begins; after reading a value it is
// just behind it.
func (r *Reader) Offset() int { return r.pos }

// Members reads an object, calling visit for each member as it stands in the
// text: neither sorted nor freed of duplicates. The key is decoded and valid
// during the call. visit must read exactly one value. An error of visit ends the
// reading and is returned as it is.
func (r *Reader) Members(visit func(key []byte) error) error {
	if r.peek() != '{' {
		return r.fail("expected an object")
	}
	more, err := r.enter('}')
	for more && err == nil {
		if err = r.member(visit); err == nil {
			more, err = r.next('}')
		}
	}
	return err
}

// member reads one key and lets visit read its value.
func (r *Reader) member(visit func(key []byte) error) error {
	mark := len(r.scratch)
	key, err := r.key()
	if err != nil {
		return err
	}
	r.peek()
	err = visit(key)
	r.scratch = r.scratch[:mark]
	return err
}

// Elements reads an array, calling visit for each element. visit must read
// exactly one value. An error of visit ends the reading and is returned as it is.
func (r *Reader) Elements(visit func() error) error {
	if r.peek() != '[' {
		return r.fail("expected an array")
	}
	more, err := r.enter(']')
	for more && err == nil {
		r.peek()
		if err = visit(); err == nil {
			more, err = r.next(']')
		}
	}
	return err
}

// Append reads the next value and appends its stable form. On error, a
// *SyntaxError, dst is returned as it was.
func (r *Reader) Append(dst []byte) ([]byte, error) {
	out, err := r.appendValue(dst)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// Object reads the next value, which must be an object, into o, replacing what
// o held. After an error o is empty.
func (r *Reader) Object(o *Object) error {
	o.Reset()
	if r.peek() != '{' {
		return r.fail("expected an object")
	}
	mark := len(r.members)
	buf, err := r.appendMembers(o.buf)
	if err != nil {
		return err
	}
	o.buf, o.members = buf, append(o.members, r.members[mark:]...)
	r.members = r.members[:mark]
	if r.wants(o.members) && !arranged(o.buf, o.members) {
		o.members = arrange(o.buf, o.members)
	}
	return nil
}

// Skip passes over the next value.
func (r *Reader) Skip() error {
	// Copying what is thrown away is the price of having one grammar in this
	// package instead of two. Numbers are left as they are.
	useful := r.useful
	r.useful = r.pos
	out, err := r.appendValue(r.scratch)
	r.useful = useful
	r.scratch = out[:len(r.scratch)]
	return err
}

// End returns an error unless nothing but white space is left.
func (r *Reader) End() error {
	if r.peek(); r.pos < len(r.text) {
		return r.fail("expected the end of the text")
	}
	return nil
}
