package offsets

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheOriginOfACommit: it is found in the metadata, where there is one, and decoding
// passes over it, as that of releases does which do not know it.
func TestTheOriginOfACommit(t *testing.T) {
	few := Done{epoch: 2, runs: []run{{7, 8}}}
	var many Done
	for i := range int64(3000) {
		many.runs = join(many.runs, 6+2*i, 7+2*i)
	}
	apart := few.WithAside(6, 2, []Aside{{Key: 9, From: 5, Count: 3}})
	apart.at = 5
	for _, of := range []Origin{0, 1, 1 << 63, 0xf0f0f0f0_12345678, math.MaxUint64} {
		for name, done := range map[string]Done{"nothing": {}, "a few": few, "many": many, "keys aside": apart} {
			text := Metadata(of, done.Encode(5))
			if got := OriginIn(text); got != of || len(text) > MaxMetadata {
				t.Errorf("%s of %x: origin %x in %d bytes", name, of, got, len(text))
			}
			if diff := cmp.Diff(done, Decode(5, text), cmp.AllowUnexported(Done{}, run{})); diff != "" {
				t.Errorf("%s of %x: decoded (-want +got):\n%s", name, of, diff)
			}
		}
	}
}

func TestMetadataOfOthersHasNoOrigin(t *testing.T) {
	bits := strings.Repeat("\r\n", 32)
	for _, text := range []string{
		"", "anabranch-b1946ac9", bits, "other" + bits, plain, plain + "AAEB", plain + bits[1:], plain + bits + "\n", plain + bits + "AAEB",
	} {
		if got := OriginIn(text); got != 0 {
			t.Errorf("OriginIn(%q) = %x, want none", text, got)
		}
	}
}

func TestTopicsOfOneNameAreToldApart(t *testing.T) {
	if a, b := OriginOf(TopicID{1}), OriginOf(TopicID{15: 1}); a == b || a == 0 || b == 0 || OriginOf(TopicID{}) != 0 {
		t.Errorf("origins %x and %x, that of no id %x", a, b, OriginOf(TopicID{}))
	}
}
