package stablejson

// Kind tells the JSON types apart.
type Kind byte

// The kinds of JSON values. KindInvalid stands for the end of a text and for
// bytes that begin no value.
const (
	KindInvalid Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// KindOf returns the kind of a stable value, KindInvalid for an empty one. It
// looks at the first byte alone: what follows is known to be in order.
func KindOf(value []byte) Kind {
	if len(value) == 0 {
		return KindInvalid
	}
	return kindAt(value[0])
}

func kindAt(first byte) Kind {
	switch first {
	case 'n':
		return KindNull
	case 't', 'f':
		return KindBool
	case '"':
		return KindString
	case '[':
		return KindArray
	case '{':
		return KindObject
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return KindNumber
	default:
		return KindInvalid
	}
}
