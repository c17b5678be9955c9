package event

import "github.com/anabranch/anabranch/internal/stablejson"

// Path leads to a value in an object: the names of members as they stand between
// their quotes.
type Path [][]byte

// PathOf compiles names, from the outside in.
func PathOf(names []string) Path {
	path := make(Path, len(names))
	for i, name := range names {
		text := stablejson.AppendString(nil, name)
		path[i] = text[1 : len(text)-1]
	}
	return path
}

// Find returns the value in a stable JSON object, nil when there is none or it is null.
func (p Path) Find(object []byte) []byte {
	for _, name := range p {
		if object = member(object, name); object == nil {
			return nil
		}
	}
	if stablejson.KindOf(object) == stablejson.KindNull {
		return nil
	}
	return object
}

// member returns the value under a name, nil for none.
func member(object, name []byte) []byte {
	members := MembersOf(object)
	for {
		key, value, ok := members.Next()
		if !ok {
			return nil
		}
		if string(key) == string(name) {
			return value
		}
	}
}

// Of is a path in a call: in its properties, or in what its first name says, `context`.
type Of struct {
	path    Path
	context bool
}

// OfCall compiles the path of a definition.
func OfCall(names []string) Of {
	if len(names) > 1 && names[0] == "context" {
		return Of{PathOf(names[1:]), true}
	}
	return Of{PathOf(names), false}
}

// Find returns the value in a call, nil when there is none or it is null.
func (o Of) Find(call *Call) []byte {
	if o.context {
		return o.path.Find(call.Context)
	}
	return o.path.Find(call.Properties)
}
