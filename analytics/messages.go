package analytics

import "time"

// Identify says who a user is. UserId or AnonymousId is required.
type Identify struct {
	Context      map[string]any `json:"context,omitempty"`
	Integrations map[string]any `json:"integrations,omitempty"`
	Traits       map[string]any `json:"traits,omitempty"`
	AnonymousId  string         `json:"anonymousId,omitempty"`
	UserId       string         `json:"userId,omitempty"`
	MessageId    string         `json:"-"` // a random one unless set; at most 100 characters
	Timestamp    string         `json:"-"` // when it happened, ISO 8601
	Time         time.Time      `json:"-"` // the same; the time of the call unless one is set
	Message
}

// Track says what a user did. Event, and UserId or AnonymousId, are required.
type Track struct {
	Context      map[string]any `json:"context,omitempty"`
	Integrations map[string]any `json:"integrations,omitempty"`
	Properties   map[string]any `json:"properties,omitempty"`
	AnonymousId  string         `json:"anonymousId,omitempty"`
	UserId       string         `json:"userId,omitempty"`
	Event        string         `json:"event"`
	MessageId    string         `json:"-"`
	Timestamp    string         `json:"-"`
	Time         time.Time      `json:"-"`
	Message
}

// Page says which page a user saw. UserId or AnonymousId is required. Traits are
// the properties of the page (url, title, referrer, path and any other) and go out as
// such; Properties is another name for them, and where both have a key, Properties'
// value is sent.
type Page struct {
	Context      map[string]any `json:"context,omitempty"`
	Integrations map[string]any `json:"integrations,omitempty"`
	Traits       map[string]any `json:"properties,omitempty"`
	Properties   map[string]any `json:"-"`
	AnonymousId  string         `json:"anonymousId,omitempty"`
	UserId       string         `json:"userId,omitempty"`
	Category     string         `json:"category,omitempty"`
	Name         string         `json:"name,omitempty"`
	MessageId    string         `json:"-"`
	Timestamp    string         `json:"-"`
	Time         time.Time      `json:"-"`
	Message
}

// Screen says which screen of an app a user saw. It is as [Page].
type Screen struct {
	Context      map[string]any `json:"context,omitempty"`
	Integrations map[string]any `json:"integrations,omitempty"`
	Traits       map[string]any `json:"properties,omitempty"`
	Properties   map[string]any `json:"-"`
	AnonymousId  string         `json:"anonymousId,omitempty"`
	UserId       string         `json:"userId,omitempty"`
	Category     string         `json:"category,omitempty"`
	Name         string         `json:"name,omitempty"`
	MessageId    string         `json:"-"`
	Timestamp    string         `json:"-"`
	Time         time.Time      `json:"-"`
	Message
}

// Group says which group a user belongs to. GroupId, and UserId or AnonymousId,
// are required.
type Group struct {
	Context      map[string]any `json:"context,omitempty"`
	Integrations map[string]any `json:"integrations,omitempty"`
	Traits       map[string]any `json:"traits,omitempty"`
	AnonymousId  string         `json:"anonymousId,omitempty"`
	UserId       string         `json:"userId,omitempty"`
	GroupId      string         `json:"groupId"`
	MessageId    string         `json:"-"`
	Timestamp    string         `json:"-"`
	Time         time.Time      `json:"-"`
	Message
}

// Alias says that a user was known by another id before. UserId and PreviousId are
// required.
type Alias struct {
	Context      map[string]any `json:"context,omitempty"`
	Integrations map[string]any `json:"integrations,omitempty"`
	PreviousId   string         `json:"previousId"`
	UserId       string         `json:"userId"`
	MessageId    string         `json:"-"`
	Timestamp    string         `json:"-"`
	Time         time.Time      `json:"-"`
	Message
}
