package schemas

// TimeLayout is the layout of every time stamp that Anabranch writes: UTC with
// milliseconds, "2026-11-21T01:04:29.457Z". Format a time in UTC with it; to
// read one, it serves [time.Parse] as it is. Rule: spec.md, A. Webhook delivery
// bodies.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Common is what every call on raw-events carries, whatever its type. Ids were
// strings or numbers in the request and are strings here; an absent one is an
// absent key. Time stamps are as [TimeLayout] says.
type Common struct {
	Type              Type           `json:"type"`
	MessageID         string         `json:"messageId"`                   // the client's, or generated; at most MaxMessageIDChars
	UserID            string         `json:"userId,omitempty"`            // this or AnonymousID is there, or both
	AnonymousID       string         `json:"anonymousId,omitempty"`       // this or UserID is there
	Timestamp         string         `json:"timestamp"`                   // of the event, corrected by the client's clock skew
	OriginalTimestamp string         `json:"originalTimestamp,omitempty"` // of the event, by the client's clock
	SentAt            string         `json:"sentAt,omitempty"`            // of the request, by the client's clock
	ReceivedAt        string         `json:"receivedAt"`                  // of the request, by the server's clock
	Context           map[string]any `json:"context,omitzero"`            // the batch's and the event's own, merged
	Integrations      map[string]any `json:"integrations,omitzero"`       // destination name -> boolean or object
}

// Identify says who a user is.
type Identify struct {
	Common
	Traits map[string]any `json:"traits,omitzero"`
}

// Track says what a user did. Event is never empty.
type Track struct {
	Common
	Event      string         `json:"event"`
	Properties map[string]any `json:"properties,omitzero"`
}

// Page says which page of a web site a user saw. The properties path, referrer,
// title and url have a fixed meaning; others are allowed.
type Page struct {
	Common
	Name       string         `json:"name,omitempty"`
	Category   string         `json:"category,omitempty"`
	Properties map[string]any `json:"properties,omitzero"`
}

// Screen says which screen of an app a user saw.
type Screen struct {
	Common
	Name       string         `json:"name,omitempty"`
	Category   string         `json:"category,omitempty"`
	Properties map[string]any `json:"properties,omitzero"`
}

// Group says which group a user belongs to, and what is known of the group.
type Group struct {
	Common
	GroupID string         `json:"groupId"`
	Traits  map[string]any `json:"traits,omitzero"`
}

// Alias says that PreviousID and Common.UserID, both present, are one user.
type Alias struct {
	Common
	PreviousID string `json:"previousId"`
}

// Delete is the notification that the deletion of a user was requested. It is
// no call of a source and carries nothing but these keys.
type Delete struct {
	Type      Type   `json:"type"`
	MessageID string `json:"messageId"`
	UserID    string `json:"userId"`
	Timestamp string `json:"timestamp"` // of the request
}
