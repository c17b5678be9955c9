package schemas_test

import "github.com/anabranch/anabranch/schemas"

// What stands on raw-events, as Go types: the schemas and the vectors are held to them.

// common is what every call on raw-events carries, whatever its type. Ids were
// strings or numbers in the request and are strings here; an absent one is an
// absent key. Time stamps are as [schemas.TimeLayout] says.
type common struct {
	Type              schemas.Type   `json:"type"`
	MessageID         string         `json:"messageId"`                   // the client's, or generated; at most schemas.MaxMessageIDChars
	UserID            string         `json:"userId,omitempty"`            // this or AnonymousID is there, or both
	AnonymousID       string         `json:"anonymousId,omitempty"`       // this or UserID is there
	Timestamp         string         `json:"timestamp"`                   // of the event, corrected by the client's clock skew
	OriginalTimestamp string         `json:"originalTimestamp,omitempty"` // of the event, by the client's clock
	SentAt            string         `json:"sentAt,omitempty"`            // of the request, by the client's clock
	ReceivedAt        string         `json:"receivedAt"`                  // of the request, by the server's clock
	Context           map[string]any `json:"context,omitzero"`            // the batch's and the event's own, merged
	Integrations      map[string]any `json:"integrations,omitzero"`       // destination name -> boolean or object
}

// identifyCall says who a user is.
type identifyCall struct {
	common
	Traits map[string]any `json:"traits,omitzero"`
}

// trackCall says what a user did. Event is never empty.
type trackCall struct {
	common
	Event      string         `json:"event"`
	Properties map[string]any `json:"properties,omitzero"`
}

// pageCall says which page of a web site a user saw. The properties path, referrer,
// title and url have a fixed meaning; others are allowed.
type pageCall struct {
	common
	Name       string         `json:"name,omitempty"`
	Category   string         `json:"category,omitempty"`
	Properties map[string]any `json:"properties,omitzero"`
}

// screenCall says which screen of an app a user saw.
type screenCall struct {
	common
	Name       string         `json:"name,omitempty"`
	Category   string         `json:"category,omitempty"`
	Properties map[string]any `json:"properties,omitzero"`
}

// groupCall says which group a user belongs to, and what is known of the group.
type groupCall struct {
	common
	GroupID string         `json:"groupId"`
	Traits  map[string]any `json:"traits,omitzero"`
}

// aliasCall says that PreviousID and common.UserID, both present, are one user.
type aliasCall struct {
	common
	PreviousID string `json:"previousId"`
}

// deleteCall is the notification that the deletion of a user was requested. It is
// no call of a source and carries nothing but these keys.
type deleteCall struct {
	Type      schemas.Type `json:"type"`
	MessageID string       `json:"messageId"`
	UserID    string       `json:"userId"`
	Timestamp string       `json:"timestamp"` // of the request
}
