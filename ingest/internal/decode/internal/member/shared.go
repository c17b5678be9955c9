package member

import "github.com/anabranch/anabranch/internal/stablejson"

// Shared is the context or the integrations of a batch. The zero value is none.
type Shared struct {
	members stablejson.Object
	text    []byte // of members, stable; empty when there are none
}

// Reset makes it none.
func (s *Shared) Reset() {
	s.members.Reset()
	s.text = s.text[:0]
}

// Size returns how many bytes it adds to a call that has no such map.
func (s *Shared) Size() int { return len(s.text) }

// Parse reads the next value of r. One that is no object counts as absent, as
// null does (protocol, 6).
func (s *Shared) Parse(r *stablejson.Reader) error {
	s.Reset()
	if r.Kind() != stablejson.KindObject {
		return r.Skip()
	}
	if err := r.Object(&s.members); err != nil {
		return err
	}
	if s.members.Len() > 0 {
		s.text = s.members.Append(s.text)
	}
	return nil
}

// Editor changes the maps of calls. It holds memory alone; the zero value is
// ready for use, for one call at a time.
type Editor struct {
	reader stablejson.Reader
	own    stablejson.Object
	text   []byte
}

// Merge makes the map under key of a call what the call's own map and the
// batch's are together; the call's own keys win, whole (protocol, 9).
func (e *Editor) Merge(call *stablejson.Object, key string, batch *Shared) {
	if len(batch.text) == 0 {
		return
	}
	e.open(call.Get(key))
	if e.own.Len() == 0 {
		call.Set(key, batch.text)
		return
	}
	e.own.Merge(&batch.members)
	e.text = e.own.Append(e.text[:0])
	call.Set(key, e.text)
}

// open makes own the object that a stable value is, and empty when it is none.
func (e *Editor) open(value []byte) {
	e.own.Reset()
	if len(value) > 0 {
		e.reader.Reset(value)
		_ = e.reader.Object(&e.own) // leaves it empty when it is none
	}
}
