package decode

import "github.com/anabranch/anabranch/internal/stablejson"

// sharedMap is the context or the integrations of a batch.
type sharedMap struct {
	members stablejson.Object
	text    []byte // of members, stable; empty when there are none
}

func (m *sharedMap) reset() {
	m.members.Reset()
	m.text = m.text[:0]
}

// parse reads the next value of r. One that is no object counts as absent, as
// null does (protocol, 6).
func (m *sharedMap) parse(r *stablejson.Reader) error {
	m.reset()
	if r.Kind() != stablejson.KindObject {
		return r.Skip()
	}
	if err := r.Object(&m.members); err != nil {
		return err
	}
	if m.members.Len() > 0 {
		m.text = m.members.Append(m.text)
	}
	return nil
}

// merger merges maps. It holds memory alone.
type merger struct {
	own  stablejson.Object
	text []byte
}

// merge makes the map under key of a call what the call's own map and the
// batch's are together; the call's own keys win, whole (protocol, 9).
func (m *merger) merge(call *stablejson.Object, key string, batch *sharedMap) {
	if len(batch.text) == 0 {
		return
	}
	own := call.Get(key)
	if own == nil || m.own.Parse(own) != nil || m.own.Len() == 0 {
		call.Set(key, batch.text)
		return
	}
	m.own.Merge(&batch.members)
	m.text = m.own.Append(m.text[:0])
	call.Set(key, m.text)
}
