package schemas_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
)

func newDelivery(typ schemas.Type) any {
	switch typ {
	case schemas.TypeIdentify:
		return new(schemas.IdentifyDelivery)
	case schemas.TypeTrack:
		return new(schemas.TrackDelivery)
	case schemas.TypePage:
		return new(schemas.PageDelivery)
	case schemas.TypeScreen:
		return new(schemas.ScreenDelivery)
	case schemas.TypeGroup:
		return new(schemas.GroupDelivery)
	case schemas.TypeAlias:
		return new(schemas.AliasDelivery)
	case schemas.TypeDelete:
		return new(schemas.DeleteDelivery)
	default:
		return nil
	}
}

// Valid vectors hold schema and Go type to one another; invalid ones hold the
// schema to what must never be sent.
func TestDeliveryVectors(t *testing.T) {
	t.Parallel()
	compiled := compileAll(t, schemas.DeliverySchema)
	kinds := make(map[string]int)
	for _, v := range vectors(t, "deliveries") {
		kinds[string(v.typ)+"."+v.kind]++
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			invalid := compiled[v.typ].Validate(any(decode(t, v.text)))
			switch v.kind {
			case "valid":
				if invalid != nil {
					t.Errorf("schema: %v, want valid", invalid)
				}
				checkGoType(t, v.text, newDelivery(v.typ))
			case "invalid":
				if invalid == nil {
					t.Error("schema: valid, want invalid")
				}
			default:
				t.Fatalf("unknown kind %q", v.kind)
			}
		})
	}
	for _, typ := range allTypes {
		if kinds[string(typ)+".valid"] == 0 || kinds[string(typ)+".invalid"] == 0 {
			t.Errorf("%s: %d valid and %d invalid vectors, want some of both", typ, kinds[string(typ)+".valid"], kinds[string(typ)+".invalid"])
		}
	}
}

// specFields is the table of spec.md, A. Webhook delivery bodies, as it stands.
var specFields = map[schemas.Type][]string{
	schemas.TypePage:     {"version", "type", "userId", "properties", "timestamp"},
	schemas.TypeScreen:   {"version", "type", "userId", "name", "timestamp", "context"},
	schemas.TypeIdentify: {"version", "type", "userId", "traits", "timestamp"},
	schemas.TypeTrack:    {"version", "type", "userId", "event", "properties", "timestamp"},
	schemas.TypeAlias:    {"version", "type", "Previous ID", "User ID", "timestamp"},
	schemas.TypeGroup:    {"version", "type", "groupId", "userId", "traits", "timestamp"},
	schemas.TypeDelete:   {"type", "userId", "timestamp"},
}

// The golden body of each type has the fields of the table and, beside them,
// only what accompanies every delivery: messageId, and context but for delete.
func TestSpecBodies(t *testing.T) {
	t.Parallel()
	missing := maps.Clone(specFields)
	for _, v := range vectors(t, "deliveries") {
		if v.rest != "spec" {
			continue
		}
		want := append(slices.Clone(specFields[v.typ]), "messageId")
		if v.typ != schemas.TypeDelete {
			want = append(want, "context")
		}
		slices.Sort(want)
		want = slices.Compact(want)
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(decode(t, v.text)))); diff != "" {
			t.Errorf("%s (-spec +vector):\n%s", v.name, diff)
		}
		delete(missing, v.typ)
	}
	if len(missing) > 0 {
		t.Errorf("no vector <type>.valid.spec for %v", slices.Collect(maps.Keys(missing)))
	}
}

// A body is refused without any one required key, with a key more, and with an
// id that is null or empty: a receiver must never see one of these.
func TestDeliverySchemaIsStrict(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t, "deliveries") {
		if v.rest != "spec" {
			continue
		}
		t.Run(string(v.typ), func(t *testing.T) {
			t.Parallel()
			schema := compile(t, schemas.DeliverySchema(v.typ))
			refuse := func(what string, change func(body map[string]any)) {
				body := decode(t, v.text)
				change(body)
				if schema.Validate(any(body)) == nil {
					t.Errorf("valid with %s, want invalid", what)
				}
			}
			for key := range decode(t, v.text) {
				optional := v.typ == schemas.TypeScreen && key == "name"
				if !optional {
					refuse("no "+key, func(body map[string]any) { delete(body, key) })
				}
				refuse("null "+key, func(body map[string]any) { body[key] = nil })
			}
			for _, key := range []string{"userId", "anonymousId", "messageId", "groupId", "User ID", "Previous ID"} {
				refuse("empty "+key, func(body map[string]any) { body[key] = "" })
			}
			for _, key := range []string{"integrations", "receivedAt", "sentAt", "originalTimestamp", "writeKey"} {
				refuse("a key "+key, func(body map[string]any) { body[key] = "x" })
			}
			for _, text := range []string{"", "2026-11-21", "2026-11-21T01:04:29Z", "2026-11-21T01:04:29.6850Z", "2026-11-21T01:04:29.685+00:00", "2026-11-21 01:04:29.685Z", "x2026-11-21T01:04:29.685Z"} {
				refuse("timestamp "+text, func(body map[string]any) { body["timestamp"] = text })
			}
		})
	}
}
