package analyticstest

import (
	"encoding/json"
	"testing"
)

// Message is one that has arrived. Members that it does not have are empty.
type Message struct {
	Type         string         `json:"type"` // "track", …
	MessageID    string         `json:"messageId"`
	UserID       string         `json:"userId"`
	AnonymousID  string         `json:"anonymousId"`
	Event        string         `json:"event"`
	Category     string         `json:"category"`
	Name         string         `json:"name"`
	GroupID      string         `json:"groupId"`
	PreviousID   string         `json:"previousId"`
	Timestamp    string         `json:"timestamp"`
	Properties   map[string]any `json:"properties"`
	Traits       map[string]any `json:"traits"`
	Context      map[string]any `json:"context"`
	Integrations map[string]any `json:"integrations"`

	JSON json.RawMessage `json:"-"` // all of it, as it was sent
}

// read returns the messages of a request's body.
func read(tb testing.TB, body []byte) []Message {
	tb.Helper()
	var request struct {
		Batch []json.RawMessage `json:"batch"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		tb.Errorf("analyticstest: a request that is no JSON: %v", err)
	}
	messages := make([]Message, len(request.Batch))
	for i, text := range request.Batch {
		messages[i].JSON = text
		if err := json.Unmarshal(text, &messages[i]); err != nil {
			tb.Errorf("analyticstest: message %s: %v", text, err)
		}
	}
	return messages
}
