package schemas

// UserAgent is the fixed product identifier of deliveries (spec.md, Webhook delivery bodies). Ingest refuses what bears it:
// a destination whose endpoint is our own collection API would send each event around for ever.
const UserAgent = "Anabranch/1.0"

// TimeLayout is the layout of every time stamp that Anabranch writes: UTC with
// milliseconds, "2026-11-21T01:04:29.457Z". Format a time in UTC with it; to
// read one, it serves [time.Parse] as it is. Rule: spec.md, A. Webhook delivery
// bodies.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// DeliveryVersion is the "version" of every delivery body but that of delete.
// Rule: spec.md, Versioning.
const DeliveryVersion = 1

// The bodies of deliveries: the table of spec.md, A. Webhook delivery bodies,
// with what it leaves open: messageId, which stays the same over all attempts,
// and context, {} when the call has none. Of userId and anonymousId at least one
// is there; an id that the call lacks is an absent key, never null or "".
// Timestamps are as [TimeLayout] says.

// IdentifyDelivery is the body of an identify call:
//
//	{"version":1,"type":"identify","messageId":"m-1","userId":"019mr8mf4r",
//	 "traits":{"plan":"Enterprise","friends":42},"timestamp":"2026-11-21T01:04:29.685Z","context":{}}
type IdentifyDelivery struct {
	Version     int            `json:"version"` // DeliveryVersion
	Type        Type           `json:"type"`    // TypeIdentify
	MessageID   string         `json:"messageId"`
	UserID      string         `json:"userId,omitempty"`
	AnonymousID string         `json:"anonymousId,omitempty"`
	Traits      map[string]any `json:"traits"` // {} if none
	Timestamp   string         `json:"timestamp"`
	Context     map[string]any `json:"context"`
}

// TrackDelivery is the body of a track call:
//
//	{"version":1,"type":"track","messageId":"m-2","userId":"019mr8mf4r","event":"Item Purchased",
//	 "properties":{"revenue":"39.95"},"timestamp":"2026-11-21T01:04:29.685Z","context":{}}
type TrackDelivery struct {
	Version     int            `json:"version"` // DeliveryVersion
	Type        Type           `json:"type"`    // TypeTrack
	MessageID   string         `json:"messageId"`
	UserID      string         `json:"userId,omitempty"`
	AnonymousID string         `json:"anonymousId,omitempty"`
	Event       string         `json:"event"`      // never ""
	Properties  map[string]any `json:"properties"` // {} if none
	Timestamp   string         `json:"timestamp"`
	Context     map[string]any `json:"context"`
}

// PageDelivery is the body of a page call:
//
//	{"version":1,"type":"page","messageId":"m-3","userId":"019mr8mf4r",
//	 "properties":{"path":"/pricing","referrer":"","title":"Pricing","url":"https://example.com/pricing"},
//	 "timestamp":"2026-11-21T01:04:29.685Z","context":{}}
type PageDelivery struct {
	Version     int            `json:"version"` // DeliveryVersion
	Type        Type           `json:"type"`    // TypePage
	MessageID   string         `json:"messageId"`
	UserID      string         `json:"userId,omitempty"`
	AnonymousID string         `json:"anonymousId,omitempty"`
	Name        string         `json:"name,omitempty"`
	Category    string         `json:"category,omitempty"`
	Properties  map[string]any `json:"properties"` // {} if none
	Timestamp   string         `json:"timestamp"`
	Context     map[string]any `json:"context"`
}

// ScreenDelivery is the body of a screen call. Its context tells of the device,
// as far as the SDK does:
//
//	{"version":1,"type":"screen","messageId":"m-4","userId":"019mr8mf4r","name":"Main",
//	 "timestamp":"2026-11-21T01:04:29.685Z","context":{
//	 "device":{"model":"Pixel 9","type":"android"},"os":{"name":"Android","version":"16"},
//	 "app":{"build":"118","name":"Shop","version":"2.4.0"}}}
type ScreenDelivery struct {
	Version     int            `json:"version"` // DeliveryVersion
	Type        Type           `json:"type"`    // TypeScreen
	MessageID   string         `json:"messageId"`
	UserID      string         `json:"userId,omitempty"`
	AnonymousID string         `json:"anonymousId,omitempty"`
	Name        string         `json:"name,omitempty"`
	Category    string         `json:"category,omitempty"`
	Properties  map[string]any `json:"properties,omitzero"` // nil when the call has none
	Timestamp   string         `json:"timestamp"`
	Context     map[string]any `json:"context"`
}

// GroupDelivery is the body of a group call:
//
//	{"version":1,"type":"group","messageId":"m-5","userId":"019mr8mf4r","groupId":"56",
//	 "traits":{"name":"Initech","total billed":830},"timestamp":"2026-11-21T01:04:29.685Z","context":{}}
type GroupDelivery struct {
	Version     int            `json:"version"` // DeliveryVersion
	Type        Type           `json:"type"`    // TypeGroup
	MessageID   string         `json:"messageId"`
	UserID      string         `json:"userId,omitempty"`
	AnonymousID string         `json:"anonymousId,omitempty"`
	GroupID     string         `json:"groupId"`
	Traits      map[string]any `json:"traits"` // {} if none
	Timestamp   string         `json:"timestamp"`
	Context     map[string]any `json:"context"`
}

// AliasDelivery is the body of an alias call. The two ids stand under keys with
// a space in them:
//
//	{"version":1,"type":"alias","messageId":"m-6","Previous ID":"old","User ID":"019mr8mf4r",
//	 "timestamp":"2026-11-21T01:04:29.685Z","context":{}}
type AliasDelivery struct {
	Version     int            `json:"version"` // DeliveryVersion
	Type        Type           `json:"type"`    // TypeAlias
	MessageID   string         `json:"messageId"`
	AnonymousID string         `json:"anonymousId,omitempty"`
	PreviousID  string         `json:"Previous ID"`
	UserID      string         `json:"User ID"`
	Timestamp   string         `json:"timestamp"`
	Context     map[string]any `json:"context"`
}

// DeleteDelivery is the body of a deletion notification. It has no version:
//
//	{"type":"delete","messageId":"m-7","userId":"019mr8mf4r","timestamp":"2026-11-21T01:04:29.685Z"}
type DeleteDelivery struct {
	Type      Type   `json:"type"` // TypeDelete
	MessageID string `json:"messageId"`
	UserID    string `json:"userId"`
	Timestamp string `json:"timestamp"`
}
