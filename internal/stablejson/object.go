package stablejson

import (
	"iter"
	"slices"
)

// Object is one JSON object: members in stable order with stable values. The
// zero value is empty and ready for use; an Object that is filled again keeps its
// memory. It is not for concurrent use.
type Object struct {
	// buf holds the members' text, and what Set and Delete left behind.
	buf     []byte
	members []member
	// places finds members by key once there are more than a few. It is nil
	// until asked for and after members moved.
	places table
}

// Parse makes o the object that text is, with nothing but white space around
// it. After an error, a *SyntaxError, o is empty.
func (o *Object) Parse(text []byte) error {
	var r Reader
	r.Reset(text)
	if err := r.Object(o); err != nil {
		return err
	}
	if err := r.End(); err != nil {
		o.Reset()
		return err
	}
	return nil
}

// Reset empties o.
func (o *Object) Reset() {
	o.buf, o.members, o.places = o.buf[:0], o.members[:0], nil
}

// Len returns the number of members.
func (o *Object) Len() int { return len(o.members) }

// Get returns the stable value under key, nil when there is none. It aliases
// o's memory and is valid until o is filled again or Reset: Set, Delete and Merge
// leave it as it is.
func (o *Object) Get(key string) []byte {
	i := o.find(key)
	if i < 0 {
		return nil
	}
	return o.value(i)
}

// Set puts a copy of value, which must be stable, under key: in the place of the
// value that is there, else where a member added last stands in stable order.
func (o *Object) Set(key string, value []byte) {
	place := o.find(key)
	start := len(o.buf)
	o.buf = AppendString(o.buf, key)
	colon := len(o.buf)
	o.buf = append(o.buf, ':')
	o.buf = append(o.buf, value...)
	m := newMember(o.buf, start, colon)
	if place >= 0 {
		o.members[place] = m
		return
	}
	o.insert(m)
}

// Delete removes the member under key, if there is one.
func (o *Object) Delete(key string) {
	if i := o.find(key); i >= 0 {
		o.members = slices.Delete(o.members, i, i+1)
		o.places = nil
	}
}

// All returns the members in stable order, keys decoded, values as by Get. o
// must not be changed on the way.
func (o *Object) All() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := range o.members {
			m := &o.members[i]
			key, _ := Text(o.buf[m.start:m.colon])
			if !yield(key, o.value(i)) {
				return
			}
		}
	}
}

// Append appends the stable text of the object.
func (o *Object) Append(dst []byte) []byte {
	dst = append(dst, '{')
	open := len(dst)
	return closeWith(appendAll(dst, o.buf, o.members), open, '}')
}

// Merge takes over the members of base whose keys o lacks, behind o's own.
// Where both have a key o's value stays whole: nothing is merged inside values
// (protocol: the context of a batch and the event's own).
func (o *Object) Merge(base *Object) {
	for i := range base.members {
		m := &base.members[i]
		if o.findStable(m.key(base.buf)) >= 0 {
			continue
		}
		shift := len(o.buf) - m.start
		o.buf = append(o.buf, base.buf[m.start:m.end]...)
		o.push(member{m.start + shift, m.colon + shift, m.end + shift, m.rank, m.print})
	}
	// Once at the end: inserting index keys one by one would be quadratic.
	if !ranked(o.members) {
		o.members = arrange(o.buf, o.members)
		o.places = nil
	}
}

// value returns a value cut off behind its end, so that appending to it does
// not write into the next one.
func (o *Object) value(i int) []byte {
	m := &o.members[i]
	return o.buf[m.colon+1 : m.end : m.end]
}

// insert adds a member whose key is new.
func (o *Object) insert(m member) {
	place := len(o.members)
	for place > 0 && o.members[place-1].rank > m.rank {
		place--
	}
	if place == len(o.members) {
		o.push(m)
		return
	}
	o.members = slices.Insert(o.members, place, m)
	o.places = nil
}

// push adds a member whose key is new behind all others.
func (o *Object) push(m member) {
	o.members = append(o.members, m)
	if !o.places.holds(len(o.members)) {
		o.places = nil
		return
	}
	o.places.add(o.buf, o.members, len(o.members)-1)
}

// find returns the place of the member under key, -1 for none.
func (o *Object) find(key string) int {
	if plain([]byte(key)) == len(key) {
		return o.findStable([]byte(key))
	}
	var room [64]byte
	stable := AppendString(room[:0], key)
	return o.findStable(stable[1 : len(stable)-1])
}

// findStable is find for a key as it stands between its quotes.
func (o *Object) findStable(key []byte) int {
	if len(o.members) > few {
		return o.findPlace(key)
	}
	for i := range o.members {
		if m := &o.members[i]; m.colon-m.start == len(key)+len(`""`) && string(m.key(o.buf)) == string(key) {
			return i
		}
	}
	return -1
}

func (o *Object) findPlace(key []byte) int {
	if o.places == nil {
		o.places = tableOf(o.buf, o.members)
	}
	return o.places.find(o.buf, o.members, key)
}
