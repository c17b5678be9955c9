package body_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/body"
)

// edit returns a valid event of a type with the value of one key replaced, or
// taken out where the value is empty.
func edit(tb testing.TB, of schemas.Type, key, value string) []byte {
	tb.Helper()
	var event stablejson.Object
	base := fmt.Sprintf(`{"type":%q,"userId":"u","groupId":"g","previousId":"p","event":"e",
		"messageId":"m","timestamp":"2026-11-21T01:04:29.685Z"}`, of)
	if err := event.Parse([]byte(base)); err != nil {
		tb.Fatal(err)
	}
	if value == "" {
		event.Delete(key)
	} else {
		event.Set(key, []byte(value))
	}
	return event.Append(nil)
}

func TestEventsThatCannotBeRead(t *testing.T) {
	const anyType = schemas.TypeTrack
	tests := []struct {
		of         schemas.Type
		key, value string // "" takes the key out
		want       string // part of the error
	}{
		{anyType, "type", "", "type"},
		{anyType, "type", `"purchase"`, "type"},
		{anyType, "type", `"Track"`, "type"},
		{anyType, "type", `7`, "type"},
		{anyType, "type", `null`, "type"},
		{anyType, "timestamp", "", "timestamp"},
		{anyType, "timestamp", `null`, "timestamp"},
		{anyType, "timestamp", `""`, "timestamp"},
		{anyType, "timestamp", `1795223069685`, "timestamp"},
		{anyType, "timestamp", `"2026-11-21T01:04:29Z"`, "timestamp"},
		{anyType, "timestamp", `"2026-11-21T01:04:29,685Z"`, "timestamp"},
		{anyType, "timestamp", `"2026-11-21T1:04:29.685Z"`, "timestamp"},
		{anyType, "timestamp", `"2026-11-21T01:04:29.685+00:00"`, "timestamp"},
		{anyType, "timestamp", `"2026-02-30T01:04:29.685Z"`, "timestamp"},
		{anyType, "messageId", "", "messageId"},
		{anyType, "messageId", `""`, "messageId"},
		{anyType, "messageId", `"` + strings.Repeat("é", schemas.MaxMessageIDChars+1) + `"`, "messageId"},
		{anyType, "userId", "", "anonymousId"},
		{anyType, "userId", `""`, "anonymousId"},
		{anyType, "userId", `7`, "userId"},
		{anyType, "anonymousId", `{}`, "anonymousId"},
		{anyType, "event", "", "event"},
		{anyType, "event", `""`, "event"},
		{anyType, "event", `["e"]`, "event"},
		{anyType, "properties", `[]`, "properties"},
		{anyType, "properties", `"a"`, "properties"},
		{anyType, "context", `"a"`, "context"},
		{schemas.TypePage, "name", `7`, "name"},
		{schemas.TypePage, "category", `{}`, "category"},
		{schemas.TypeScreen, "properties", `7`, "properties"},
		{schemas.TypeIdentify, "traits", `[]`, "traits"},
		{schemas.TypeIdentify, "context", `[]`, "context"},
		{schemas.TypeGroup, "groupId", "", "groupId"},
		{schemas.TypeGroup, "groupId", `""`, "groupId"},
		{schemas.TypeGroup, "traits", `true`, "traits"},
		{schemas.TypeAlias, "previousId", "", "Previous ID"},
		{schemas.TypeAlias, "userId", "", "User ID"},
		{schemas.TypeDelete, "userId", "", "userId"},
	}
	var builder body.Builder
	for _, test := range tests {
		t.Run(strings.Join([]string{string(test.of), test.key, test.value}, " "), func(t *testing.T) {
			dst := []byte("kept")
			got, err := builder.Append(dst, edit(t, test.of, test.key, test.value))
			if err == nil {
				t.Fatalf("body made: %s", got)
			}
			if !strings.Contains(err.Error(), test.want+": expected") {
				t.Errorf("error %q does not name %q", err, test.want)
			}
			if string(got) != "kept" {
				t.Errorf("destination after the error: %q", got)
			}
		})
	}
}

func TestRecordsThatAreNoEvents(t *testing.T) {
	var builder body.Builder
	for _, text := range []string{
		"", " ", "null", "[]", `"track"`, "{", `{}`, `{"type":"track"`, `{"type":"track"} {}`, "\xff",
		`{"type":"track",}`, strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600),
	} {
		if got, err := builder.Append(nil, []byte(text)); err == nil {
			t.Errorf("body of %.20q: %s", text, got)
		}
	}
}

// Errors go to logs and dead letters; what a customer sent must not.
func TestErrorsDoNotQuoteTheEvent(t *testing.T) {
	var builder body.Builder
	for _, text := range []string{
		`{"type":"canary"}`, `{"canary":canary}`, `canary`, `{"type":"track","timestamp":"canary","messageId":"m","userId":"u","event":"e"}`,
		`{"type":"track","userId":{"canary":1}}`,
	} {
		_, err := builder.Append(nil, []byte(text))
		if err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("error of %s: %v", text, err)
		}
	}
}

func TestDuplicateKeysCountAsForJSONParse(t *testing.T) {
	var builder body.Builder
	got, err := builder.Append(nil, []byte(`{"type":"page","type":"delete","userId":"first","messageId":"m",
		"timestamp":"2026-11-21T01:04:29.685Z","userId":"last"}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"delete","userId":"last","timestamp":"2026-11-21T01:04:29.685Z","messageId":"m"}`
	if string(got) != want {
		t.Errorf("body %s, want %s", got, want)
	}
}

// A context that is nearly as large as memory allotted before makes the values
// move while it is read for its traits.
func TestTraitsOfLargeContexts(t *testing.T) {
	var builder body.Builder
	for size := 1; size < 40_000; size = size*3 + 7 {
		traits := `{"long":"` + strings.Repeat("x", size) + `"}`
		got, err := builder.Append(nil, []byte(`{"type":"identify","userId":"u","messageId":"m",
			"timestamp":"2026-11-21T01:04:29.685Z","context":{"a":1,"traits":`+traits+`}}`))
		if err != nil {
			t.Fatal(err)
		}
		want := `{"version":1,"type":"identify","userId":"u","traits":` + traits +
			`,"timestamp":"2026-11-21T01:04:29.685Z","context":{"a":1,"traits":` + traits + `},"messageId":"m"}`
		if string(got) != want {
			t.Errorf("size %d: body %.80s…", size, got)
		}
	}
}

// Run with -race: a Builder keeps what it took apart in pooled memory.
func TestBuilderIsForManyGoroutines(t *testing.T) {
	var builder body.Builder
	all := goldens(t)
	var workers sync.WaitGroup
	for worker := range 4 {
		workers.Go(func() {
			for i := range 200 {
				g := all[(worker+i)%len(all)]
				got, err := builder.Append(nil, g.Event)
				if err != nil || string(got) != string(g.Body) {
					t.Errorf("%s: %s, %v", g.Name, got, err)
					return
				}
			}
		})
	}
	workers.Wait()
}
