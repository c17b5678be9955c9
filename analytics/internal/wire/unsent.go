package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/encode"
	"github.com/anabranch/anabranch/analytics/internal/queue"
)

// Absent is the error of a written message that lacks a member.
type Absent string

// Error names the member.
func (a Absent) Error() string { return "no " + string(a) }

// Read takes a message that was written before, perhaps by another process.
func Read(text []byte) (*queue.Message, error) {
	if len(text) > MaxBytes {
		return nil, encode.ErrTooLarge
	}
	var ids struct {
		Type        string `json:"type"`
		MessageID   string `json:"messageId"`
		UserID      string `json:"userId"`
		AnonymousID string `json:"anonymousId"`
	}
	if err := json.Unmarshal(text, &ids); err != nil {
		return nil, &encode.Error{Path: "JSON", Err: err}
	}
	switch user := cmp.Or(ids.UserID, ids.AnonymousID); {
	case ids.Type == "":
		return nil, Absent("type")
	case ids.MessageID == "":
		return nil, Absent("messageId")
	case user == "":
		return nil, ErrNobody
	default:
		return Message(ids.Type, ids.MessageID, user, bytes.Clone(text), time.Now()), nil
	}
}
