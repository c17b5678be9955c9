package body_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/schematest"
	"github.com/anabranch/anabranch/webhook-sink/internal/body"
)

var allTypes = []schemas.Type{
	schemas.TypeIdentify, schemas.TypeTrack, schemas.TypePage, schemas.TypeScreen, schemas.TypeGroup, schemas.TypeAlias, schemas.TypeDelete,
}

// TestSchemasAgreeWithBodies makes bodies of all that ingest may write (package
// schematest has the contract, and ingest is held to it). Each is made, is
// stable, and is what the published schema says; and the schema says nothing
// beside: no variation of a body meets it that the sink would not send.
func TestSchemasAgreeWithBodies(t *testing.T) {
	t.Parallel()
	for seed, of := range allTypes {
		t.Run(string(of), func(t *testing.T) {
			t.Parallel()
			g, schema := schematest.New(uint64(seed)), deliverySchema(t, of)
			var builder body.Builder
			seen := make(map[string]int) // members
			for range 150 {
				event := g.Event(of)
				text, err := builder.Append(nil, event)
				if err != nil {
					t.Fatalf("event %s: %v", event, err)
				}
				checkAgreement(t, schema, event, text, seen)
				if t.Failed() {
					return
				}
			}
			checkMembers(t, of, seen)
		})
	}
}

// checkAgreement holds one body, and what is nearly one, against its schema.
func checkAgreement(t *testing.T, schema *jsonschema.Schema, event, text []byte, seen map[string]int) {
	t.Helper()
	if stable, err := stablejson.Append(nil, text); err != nil || string(stable) != string(text) {
		t.Errorf("event %s\nbody %s is not stable: %v", event, text, err)
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(any(members)); err != nil {
		t.Errorf("event %s\nbody %s: %v", event, text, err)
	}
	for key := range members {
		seen[key]++
	}
	for what, other := range variations(members) {
		if schema.Validate(any(other)) == nil {
			t.Errorf("body %s: valid with %s too", text, what)
		}
	}
}

// optional are the members that a body may lack. Of userId and anonymousId it
// may lack one.
var optional = []string{"name", "category", "anonymousId", "userId"}

// values is one of each JSON type.
var values = []any{nil, true, float64(2), "text", []any{}, map[string]any{}}

// variations returns what the sink would not send for the event of a body, each
// one step from it.
func variations(members map[string]any) map[string]map[string]any {
	all := make(map[string]map[string]any)
	with := func(what, key string, value any) {
		other := maps.Clone(members)
		other[key] = value
		all[what] = other
	}
	for _, key := range []string{"integrations", "receivedAt", "sentAt", "originalTimestamp", "writeKey", "channel", "previousId", "Type", ""} {
		with("a key "+key, key, "x")
	}
	with("another version", "version", float64(schemas.DeliveryVersion+1)) // that of a delete is one key more
	with("another type", "type", "Track")
	with("a messageId that is too long", "messageId", strings.Repeat("é", schemas.MaxMessageIDChars+1))
	for key, value := range members {
		if !mayLack(members, key) {
			other := maps.Clone(members)
			delete(other, key)
			all["no "+key] = other
		}
		for _, wrong := range values {
			if jsonType(wrong) != jsonType(value) {
				with(key+" of another type: "+jsonType(wrong), key, wrong)
			}
		}
		if key != "name" && key != "category" && jsonType(value) == "string" {
			with("an empty "+key, key, "")
		}
	}
	return all
}

func mayLack(members map[string]any, key string) bool {
	switch key {
	case "userId", "anonymousId":
		_, user := members["userId"]
		_, anonymous := members["anonymousId"]
		return members["type"] != "delete" && (user && anonymous || members["type"] == "alias")
	case "properties":
		return members["type"] == "screen"
	default:
		return slices.Contains(optional, key)
	}
}

func jsonType(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	default:
		return "object"
	}
}

// checkMembers wants every member that the schema names in some body, and not in
// every body those that it does not require.
func checkMembers(t *testing.T, of schemas.Type, seen map[string]int) {
	t.Helper()
	var schema struct {
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	}
	if err := json.Unmarshal(schemas.DeliverySchema(of), &schema); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(schema.Properties)), slices.Sorted(maps.Keys(seen))); diff != "" {
		t.Errorf("members (-schema +bodies):\n%s", diff)
	}
	for key, n := range seen {
		if always := n == seen["type"]; always != slices.Contains(schema.Required, key) {
			t.Errorf("%s is in %d of %d bodies, required: %t", key, n, seen["type"], !always)
		}
	}
}

// The time stamps of deliveries are of one form, which the schema knows to the
// last digit, but for the length of months.
func TestSchemasKnowTimeStamps(t *testing.T) {
	t.Parallel()
	schema := deliverySchema(t, schemas.TypeDelete)
	for stamp, valid := range map[string]bool{
		"2026-11-21T01:04:29.457Z":      true,
		"0001-01-01T00:00:00.000Z":      true,
		"9999-12-31T23:59:59.999Z":      true,
		"2026-13-21T01:04:29.457Z":      false,
		"2026-00-21T01:04:29.457Z":      false,
		"2026-11-00T01:04:29.457Z":      false,
		"2026-11-32T01:04:29.457Z":      false,
		"2026-11-21T24:04:29.457Z":      false,
		"2026-11-21T01:60:29.457Z":      false,
		"2026-11-21T01:04:60.457Z":      false,
		"2026-11-21T01:04:29Z":          false,
		"2026-11-21T01:04:29.4570Z":     false,
		"2026-11-21T01:04:29.457+00:00": false,
		"2026-11-21t01:04:29.457z":      false,
		"2026-11-21":                    false,
		"x2026-11-21T01:04:29.457Z":     false,
	} {
		body := map[string]any{"type": "delete", "messageId": "m", "userId": "u", "timestamp": stamp}
		if err := schema.Validate(any(body)); (err == nil) != valid {
			t.Errorf("%s: %v, want valid: %t", stamp, err, valid)
		}
	}
}
