package testsend

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// Types are those that there is an example of, the usual one first.
func Types() []schemas.Type {
	return []schemas.Type{
		schemas.TypeTrack, schemas.TypeIdentify, schemas.TypePage, schemas.TypeScreen, schemas.TypeGroup, schemas.TypeAlias, schemas.TypeDelete,
	}
}

// Example returns an event of a type as it would stand on raw-events: the example of its
// schema, with a messageId of its own, that happened at a time.
func Example(t schemas.Type, at time.Time) ([]byte, error) {
	if !slices.Contains(Types(), t) {
		return nil, fmt.Errorf("type %q: expected one of %v", t, Types())
	}
	var schema struct {
		Examples []map[string]any `json:"examples"`
	}
	if err := json.Unmarshal(schemas.CallSchema(t), &schema); err != nil || len(schema.Examples) == 0 {
		return nil, fmt.Errorf("read the example of a %s call: %w", t, err)
	}
	event := schema.Examples[0]
	event["type"], event["messageId"] = t, "test-"+strings.ToLower(rand.Text())
	event["timestamp"] = at.UTC().Format(schemas.TimeLayout)
	delete(event, "integrations")
	for _, id := range []string{"userId", "anonymousId", "groupId", "previousId"} {
		if number, is := event[id].(float64); is { // which ingest writes as text
			event[id] = strconv.FormatFloat(number, 'f', -1, 64)
		}
	}
	return json.Marshal(event)
}
