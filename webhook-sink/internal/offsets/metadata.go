package offsets

import (
	"encoding/binary"
	"slices"
	"strings"
)

// TopicID tells a topic from another one of the same name, before or after it. Zero:
// the brokers have not said.
type TopicID = [16]byte

// Origin says of which topic a commit is: as much of its id as it takes to tell topics
// of one name apart. Zero: it is not known.
type Origin uint64

// OriginOf is the origin of commits of a topic.
func OriginOf(id TopicID) Origin {
	return Origin(binary.BigEndian.Uint64(id[:8]) ^ binary.BigEndian.Uint64(id[8:]))
}

// MaxMetadata is the length of the longest text that Metadata returns: brokers take
// as much by default.
const MaxMetadata = 4096

// originLength is one character for each bit.
const originLength = 64

// Metadata is the text that a commit carries: what Encode made of the records finished
// beyond it, and of which topic it is. Groups keep offsets under the names of topics, so
// the one that was committed last for a topic that is gone may be found under a topic
// made anew, of which it says nothing.
//
// The origin is written in line ends, which decoders of base64 pass over: to a release
// that knows nothing of it the text says what it always did. Two releases may run side
// by side, and neither repeats what the other has finished.
func Metadata(of Origin, done string) string {
	if of == 0 {
		return done
	}
	if done == "" {
		done = plain
	}
	bits := make([]byte, originLength)
	for i := range bits {
		bits[i] = '\n'
		if of>>i&1 == 1 {
			bits[i] = '\r'
		}
	}
	return done + string(bits)
}

// OriginIn reads of which topic a commit is, by its metadata.
func OriginIn(metadata string) Origin {
	done := strings.TrimRight(metadata, "\r\n")
	bits := metadata[len(done):]
	ours := func(prefix string) bool { return strings.HasPrefix(done, prefix) }
	if len(bits) != originLength || !slices.ContainsFunc(prefixes(), ours) {
		return 0
	}
	of := Origin(0)
	for i := range bits {
		if bits[i] == '\r' {
			of |= 1 << i
		}
	}
	return of
}
