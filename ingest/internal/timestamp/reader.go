package timestamp

import "github.com/anabranch/anabranch/internal/stablejson"

// Reader reads the time stamps of calls and counts those that can't be read.
// They never refuse a call: they count as absent (protocol, 10). The zero value
// has counted none.
type Reader struct {
	Unreadable int // since it was made
}

// First returns the first of some values, stable JSON and nil or null when
// absent, that can be read.
func (r *Reader) First(values ...[]byte) Stamp {
	for _, value := range values {
		if !given(value) {
			continue
		}
		if millis, ok := Parse(value); ok {
			return Stamp{millis, true}
		}
		r.Unreadable++
	}
	return Stamp{}
}

// given reports whether there is a value: null says that there is none.
func given(value []byte) bool {
	return len(value) > 0 && stablejson.KindOf(value) != stablejson.KindNull
}
