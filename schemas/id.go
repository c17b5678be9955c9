package schemas

// MaxIDBytes is the longest id of a source or destination. Ids become part of
// topic names and of every group's metadata, so they are kept short.
const MaxIDBytes = 64

// ValidID tells whether id may name a source or destination: 1 to [MaxIDBytes]
// lower-case ASCII letters, digits and hyphens.
func ValidID(id string) bool {
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return id != "" && len(id) <= MaxIDBytes
}
