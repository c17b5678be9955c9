package analytics

// Version of this package, as the server is told.
const Version = "2.2.0"

// Endpoint is where a client sends to unless it is told otherwise: an Anabranch
// that runs on the same machine with its default settings.
const Endpoint = "http://127.0.0.1:8080"

// DefaultContext is sent with every batch; a message's own context goes before it.
// It is read when a client gets its first call, and may be changed before that.
//
//nolint:gochecknoglobals // part of version 2
var DefaultContext = map[string]any{
	"library": map[string]any{"name": "analytics-go", "version": Version},
}

// Message has what every kind of message may have. It is embedded in each of them
// because version 2 did so; their own MessageId and Timestamp are the same members and
// go before these when both are set.
type Message struct {
	Type      string `json:"type,omitempty"` // ignored: the method says what it is
	MessageId string `json:"messageId,omitempty"`
	Timestamp string `json:"timestamp,omitempty"`
	SentAt    string `json:"sentAt,omitempty"` // when the message was sent, if that was not now
}

// Batch is the body of a request. The client does not use it; programs that read
// requests may.
type Batch struct {
	Context  map[string]any `json:"context,omitempty"`
	Messages []any          `json:"batch"`
	Message
}
