package schemas

// Type is the kind of a call, as its JSON key "type" and the record header of
// the same name spell it. Rule: spec.md, Events.
type Type string

// The types of call. All but delete come from a source; delete is a
// notification that Anabranch makes itself when a deletion is requested.
const (
	TypeIdentify Type = "identify"
	TypeTrack    Type = "track"
	TypePage     Type = "page"
	TypeScreen   Type = "screen"
	TypeGroup    Type = "group"
	TypeAlias    Type = "alias"
	TypeDelete   Type = "delete"
)

// ParseType returns the Type that s spells exactly; false when there is none.
// Delete is a Type too: whether it may come from where s came from is for
// [Outline.Validate] to say.
func ParseType(s string) (Type, bool) { return oneOf(s, types()) }

func types() []Type {
	return []Type{TypeIdentify, TypeTrack, TypePage, TypeScreen, TypeGroup, TypeAlias, TypeDelete}
}

// oneOf returns the member of set that word spells. It returns the constant, not
// a conversion of word, so that decoding a header puts nothing on the heap.
func oneOf[T ~string, W string | []byte](word W, set []T) (T, bool) {
	for _, member := range set {
		if string(member) == string(word) {
			return member, true
		}
	}
	return "", false
}
