package regulate

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Bounds of one transaction: it takes some ten milliseconds, so that a stop waits
// for no longer and a repetition after a crash costs little.
const (
	stepEvents = 1000
	stepBytes  = 1 << 20
)

// affected returns the ids of the sources whose destinations are told (spec.md,
// Events): until profiles say where a user was seen, each enabled source that
// has an enabled destination.
func affected(s *workspace.Snapshot) []string {
	ids := make([]string, 0, len(s.Sources()))
	for _, source := range s.Sources() {
		if len(s.Listeners(source.ID)) > 0 {
			ids = append(ids, source.ID)
		}
	}
	return ids
}

// step returns the next notifications of a regulation, at least those of one user
// and no more users when most is reached, and the state that it has with them. The sources are those of the first
// step, whatever has become of the workspace since: what was counted by them goes
// on by them.
func step(r regulation.Regulation, users, sources []string, most int, now time.Time) (regulation.Regulation, []*kgo.Record) {
	if r.Sources == nil {
		r.Sources = sources
	}
	r.Status = regulation.Running
	var events []*kgo.Record
	bytes := 0
	for r.Notified < len(users) && len(events) < most && bytes < stepBytes {
		id := users[r.Notified]
		for _, source := range r.Sources {
			events = append(events, notification(&r, source, id))
		}
		bytes += len(r.Sources) * len(id)
		r.Notified++
	}
	if r.Notified == len(users) {
		return r.End(regulation.Finished, "", now), events
	}
	return r, events
}

// notification is the event that tells the destinations of one source to delete a
// user. Its messageId is the same however often it is made, so that a receiver
// knows a repetition.
func notification(r *regulation.Regulation, source, userID string) *kgo.Record {
	sum := sha256.Sum256([]byte(source + "\x00" + userID))
	messageID := r.ID + "-" + hex.EncodeToString(sum[:16])

	value := append(make([]byte, 0, 128+len(userID)+len(messageID)), `{"type":"delete","messageId":`...)
	value = stablejson.AppendString(value, messageID)
	value = append(value, `,"userId":`...)
	value = stablejson.AppendString(value, userID)
	value = append(value, `,"timestamp":"`...)
	value = r.CreatedAt.UTC().AppendFormat(value, "2006-01-02T15:04:05.000Z")
	value = append(value, `"}`...)

	record := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte(userID), Value: value}
	kafka.SetHeaders(record, &schemas.Headers{
		Source: source, Type: schemas.TypeDelete, MessageID: messageID, Origin: schemas.OriginDeletion,
	})
	return record
}
