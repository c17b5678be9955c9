package scenario

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed scenario.json
var file []byte

// Call is one call of an SDK with what it is given. An empty member is not
// given. Times are ISO 8601 in UTC with milliseconds.
type Call struct {
	// Mark names the call. It is in the data that is delivered too, as the trait
	// or the property "call"; an alias has neither and has it as its previousId.
	Mark         string         `json:"mark"`
	Type         string         `json:"type"`
	UserID       string         `json:"userId,omitempty"`
	AnonymousID  string         `json:"anonymousId,omitempty"`
	PreviousID   string         `json:"previousId,omitempty"`
	GroupID      string         `json:"groupId,omitempty"`
	Event        string         `json:"event,omitempty"`
	Name         string         `json:"name,omitempty"`
	Category     string         `json:"category,omitempty"`
	Properties   map[string]any `json:"properties,omitempty"`
	Traits       map[string]any `json:"traits,omitempty"`
	Context      map[string]any `json:"context,omitempty"`
	Integrations map[string]any `json:"integrations,omitempty"`
	Timestamp    string         `json:"timestamp,omitempty"`
	MessageID    string         `json:"messageId,omitempty"`
	// Filtered says that its integrations map keeps it from every webhook.
	Filtered bool `json:"filtered,omitempty"`
}

// All returns every call of scenario.json.
func All() ([]Call, error) {
	var s struct {
		Calls []Call `json:"calls"`
	}
	if err := json.Unmarshal(file, &s); err != nil {
		return nil, fmt.Errorf("decode scenario.json: %w", err)
	}
	return s.Calls, nil
}

// Large returns n track calls of one user, marked large-00 and so on, each as large
// as every SDK lets it be with what it adds itself: 30 KiB of the 32 that a call may
// have (protocol, 7).
func Large(n int) []Call {
	text := strings.Repeat("large ", 30<<10/6)
	calls := make([]Call, n)
	for i := range calls {
		mark := fmt.Sprintf("large-%02d", i)
		calls[i] = Call{
			Mark: mark, Type: "track", UserID: "u-large", Event: "Step",
			Properties: map[string]any{"call": mark, "text": text},
		}
	}
	return calls
}

// Crowd returns n small track calls of one user, marked crowd-000 and so on: more
// of them than an SDK puts into one request.
func Crowd(n int) []Call {
	calls := make([]Call, n)
	for i := range calls {
		mark := fmt.Sprintf("crowd-%03d", i)
		calls[i] = Call{
			Mark: mark, Type: "track", UserID: "u-crowd", Event: "Step",
			Properties: map[string]any{"call": mark, "n": float64(i)},
		}
	}
	return calls
}
