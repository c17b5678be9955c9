package regulation

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// BySeen is what stands for the affected sources of a request where the stage personas
// knows who has seen a user: its own source, from which the orders come.
const BySeen = "personas"

// IsBySeen reports whether sources are [BySeen].
func IsBySeen(sources []string) bool { return slices.Equal(sources, []string{BySeen}) }

// Notification is the event on raw-events that tells the destinations of one source to
// delete a user. Its messageId is the same however often it is made, so that a receiver
// knows a repetition: it begins with the id of the request, which was made at the time.
func Notification(request string, at time.Time, source, userID string) *kgo.Record {
	return notification(request, at, userID, schemas.Headers{Source: source})
}

// Order is the event on raw-events that has the stage personas forget a user, and write a
// [Notification] for each source that has seen them. It is for no destination.
func Order(request string, at time.Time, userID string) *kgo.Record {
	return notification(request, at, userID, schemas.Headers{Source: BySeen, Only: []string{BySeen}})
}

// IsOrder tells an order from a notification, both of the origin deletion.
func IsOrder(h *schemas.Headers) bool { return h.Origin == schemas.OriginDeletion && h.Only != nil }

// Request returns the id of the request that a notification or an order is of.
func Request(messageID string) string {
	if at := strings.LastIndexByte(messageID, '-'); at > 0 {
		return messageID[:at]
	}
	return messageID
}

// Notify is the notification that an order, of which this is the value, asks for.
func Notify(order []byte, source string) (*kgo.Record, error) {
	var o stablejson.Object
	if err := o.Parse(order); err != nil {
		return nil, err
	}
	text := func(member string) string {
		value, _ := stablejson.Text(o.Get(member))
		return value
	}
	at, err := time.Parse(schemas.TimeLayout, text("timestamp"))
	if user := text("userId"); err == nil && user != "" {
		return Notification(Request(text("messageId")), at, source, user), nil
	}
	return nil, errors.Join(errors.New("order to delete a user without its time or its user"), err)
}

func notification(request string, at time.Time, userID string, h schemas.Headers) *kgo.Record {
	sum := sha256.Sum256([]byte(h.Source + "\x00" + userID))
	h.MessageID = request + "-" + hex.EncodeToString(sum[:16])
	if h.Only != nil {
		// The notification of the same source is another event.
		h.MessageID = request + "-order" + hex.EncodeToString(sum[:16])
	}
	h.Type, h.Origin = schemas.TypeDelete, schemas.OriginDeletion

	value := append(make([]byte, 0, 128+len(userID)+len(h.MessageID)), `{"type":"delete","messageId":`...)
	value = stablejson.AppendString(value, h.MessageID)
	value = append(value, `,"userId":`...)
	value = stablejson.AppendString(value, userID)
	value = append(value, `,"timestamp":"`...)
	value = at.UTC().AppendFormat(value, "2006-01-02T15:04:05.000Z")
	value = append(value, `"}`...)

	record := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte(userID), Value: value}
	kafka.SetHeaders(record, &h)
	return record
}
