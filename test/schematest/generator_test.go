package schematest_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/schematest"
)

// A corpus that can't be made again is no use to whoever has to find a fault.
func TestTextsDependOnTheSeedAlone(t *testing.T) {
	t.Parallel()
	a, b, other := schematest.New(7), schematest.New(7), schematest.New(8)
	differ := 0
	for range 100 {
		text := a.Call(schemas.TypeTrack, true)
		if again := b.Call(schemas.TypeTrack, true); !bytes.Equal(text, again) {
			t.Fatalf("one seed, two texts:\n%s\n%s", text, again)
		}
		if !bytes.Equal(text, other.Call(schemas.TypeTrack, true)) {
			differ++
		}
	}
	if differ < 90 {
		t.Errorf("two seeds have %d of 100 texts in common", 100-differ)
	}
}

func TestCallsAndBatchesAreJSON(t *testing.T) {
	t.Parallel()
	g := schematest.New(1)
	for range 5000 {
		if text := g.Call(g.Type(), false); !json.Valid(text) {
			t.Fatalf("call is not JSON: %s", text)
		}
	}
	for range 200 {
		if text := g.Batch(20); !json.Valid(text) {
			t.Fatalf("batch is not JSON: %s", text)
		}
	}
}

// A corpus in which one shape of one member is missing proves less than it
// seems to.
func TestCallsHaveEveryShapeOfEveryMember(t *testing.T) {
	t.Parallel()
	seen := make(map[string]map[byte]int)
	g := schematest.New(2)
	for range 20_000 {
		var call map[string]json.RawMessage
		if json.Unmarshal(g.Call(g.Type(), false), &call) != nil {
			continue // a call that is no object
		}
		for key, value := range call {
			if seen[key] == nil {
				seen[key] = make(map[byte]int)
			}
			seen[key][shape(value)]++
		}
	}
	keys := strings.FieldsSeq("type messageId userId anonymousId groupId previousId event name category properties traits " +
		"timestamp originalTimestamp sentAt receivedAt context integrations writeKey")
	for key := range keys {
		for _, shape := range []byte(`ntf0"e[]{}`) {
			if seen[key][shape] == 0 {
				t.Errorf("no call has a %s of the shape %c", key, shape)
			}
		}
	}
}

// shape tells values apart by what they begin with, and empty ones from others:
// e is "", ] is [], and } is {}.
func shape(value []byte) byte {
	switch compact := string(bytes.Join(bytes.Fields(value), nil)); {
	case compact == `""`:
		return 'e'
	case compact == "[]":
		return ']'
	case compact == "{}":
		return '}'
	case strings.IndexByte("-0123456789", compact[0]) >= 0:
		return '0'
	default:
		return compact[0]
	}
}

func TestEventsAreWhatIngestWrites(t *testing.T) {
	t.Parallel()
	g := schematest.New(3)
	for _, typ := range []schemas.Type{
		schemas.TypeIdentify, schemas.TypeTrack, schemas.TypePage, schemas.TypeScreen,
		schemas.TypeGroup, schemas.TypeAlias, schemas.TypeDelete,
	} {
		for range 1000 {
			if text := g.Event(typ); schematest.CheckEvent(text) != nil {
				t.Fatalf("%v: %s", schematest.CheckEvent(text), text)
			}
		}
	}
}

func TestCheckEvent(t *testing.T) {
	t.Parallel()
	const head = `"messageId":"m","userId":"u","timestamp":"2026-11-21T01:04:29.457Z"`
	for text, want := range map[string]string{
		`{"type":"identify",` + head + `}`:                                                           "",
		`{"type":"track",` + head + `,"event":"e","name":7,"category":[],"traits":0}`:                "",
		`{"type":"page",` + head + `,"name":null,"category":"","properties":{}}`:                     "",
		`{"type":"identify","anonymousId":"a","messageId":"m","timestamp":"2026-11-21T01:04:29Z"}`:   "timestamp",
		`{"type":"identify",` + head + `,"timestamp":1795223069458}`:                                 "timestamp",
		`{"type":"Track",` + head + `}`:                                                              "type",
		`{"type":"track",` + head + `}`:                                                              "found no event",
		`{"type":"track",` + head + `,"event":7}`:                                                    "found no event",
		`{"type":"group",` + head + `,"groupId":""}`:                                                 "groupId",
		`{"type":"alias",` + head + `}`:                                                              "previousId",
		`{"type":"alias",` + head + `,"previousId":"p","userId":null,"anonymousId":"a"}`:             "userId",
		`{"type":"identify",` + head + `,"userId":7}`:                                                "userId",
		`{"type":"identify",` + head + `,"userId":"","anonymousId":"a"}`:                             "userId",
		`{"type":"identify","messageId":"m","timestamp":"2026-11-21T01:04:29.457Z"}`:                 "id of a user",
		`{"type":"delete","anonymousId":"a","messageId":"m","timestamp":"2026-11-21T01:04:29.457Z"}`: "found no userId",
		`{"type":"page",` + head + `,"name":7}`:                                                      "name",
		`{"type":"page",` + head + `,"category":7}`:                                                  "category",
		`{"type":"screen",` + head + `,"category":null}`:                                             "category",
		`{"type":"page",` + head + `,"properties":[]}`:                                               "properties",
		`{"type":"identify",` + head + `,"traits":null}`:                                             "traits",
		`{"type":"identify",` + head + `,"context":null}`:                                            "context",
		`{"type":"identify",` + head + `,"integrations":true}`:                                       "integrations",
		`{"type":"identify",` + head + `,"writeKey":"k"}`:                                            "write key",
		`{"type":"identify",` + head + `,"messageId":""}`:                                            "messageId",
		`{"type":"identify",` + head + `,"messageId":"` + strings.Repeat("é", 101) + `"}`:            "messageId",
		`[]`: "decode event",
	} {
		err := schematest.CheckEvent([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("CheckEvent(%s) = %v, want %q", text, err, want)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	g := schematest.New(1)
	for b.Loop() {
		g.Call(schemas.TypeTrack, true)
	}
}
