package offsets

import "strings"

// TopicID tells a topic from another one of the same name, before or after it. Zero:
// the brokers have not said.
type TopicID = [16]byte

// Metadata is the text that a commit carries: of which topic its offset is, and what
// Encode made of the records finished beyond it. Groups keep offsets under the names
// of topics, so the one that was committed last for a topic that is gone may be found
// under a topic made anew, of which it says nothing.
func Metadata(of TopicID, done string) string {
	if of == (TopicID{}) {
		return done
	}
	return origin + encoding.EncodeToString(of[:]) + originEnd + done
}

// MaxMetadata is the length of the longest text that Metadata returns: brokers take
// as much by default.
const MaxMetadata = 4096

const (
	origin    = "anabranch-topic:"
	originEnd = ";"
	idLength  = 22 // of a TopicID in our encoding
)

// Origin reads of which topic a commit is, by its metadata, and returns what else
// stands there.
func Origin(metadata string) (of TopicID, done string) {
	text, ours := strings.CutPrefix(metadata, origin)
	id, done, whole := strings.Cut(text, originEnd)
	if !ours || !whole || len(id) != idLength {
		return TopicID{}, metadata
	}
	if n, err := encoding.Decode(of[:], []byte(id)); err != nil || n != len(of) {
		return TopicID{}, metadata
	}
	return of, done
}
