package emit

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
)

// Source is the built-in source that the calls come from: who is connected to it gets
// them.
const Source = "personas"

// User is whom a call is about.
type User struct {
	ID        string
	Anonymous bool // the id is an anonymousId
}

// Telling is how the changes of a definition are told.
type Telling struct {
	By   definition.Send
	Only []string // ids of the destinations that are told; nil: all that are connected
	// Again names the occasion on which a change is told that was told before; empty: it was
	// not.
	Again string
}

// Records returns the calls that tell a change.
func Records(u User, c *engine.Change, telling Telling) []*kgo.Record {
	switch telling.By {
	case definition.SendTrack:
		return []*kgo.Record{record(u, c, &telling, schemas.TypeTrack)}
	case definition.SendBoth:
		return []*kgo.Record{record(u, c, &telling, schemas.TypeIdentify), record(u, c, &telling, schemas.TypeTrack)}
	case definition.SendIdentify:
	}
	return []*kgo.Record{record(u, c, &telling, schemas.TypeIdentify)}
}

func record(u User, c *engine.Change, telling *Telling, call schemas.Type) *kgo.Record {
	id := messageID(u, c, call, telling.Again)
	rec := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte(u.ID), Value: value(u, c, call, id)}
	kafka.SetHeaders(rec, &schemas.Headers{Source: Source, Type: call, MessageID: id, Origin: schemas.OriginPersonas, Only: telling.Only})
	return rec
}

// messageID is the same however often a change is told: it names the user, the key and
// the place of the change among all of the user's, or the occasion on which it is told
// again.
func messageID(u User, c *engine.Change, call schemas.Type, again string) string {
	if again == "" {
		again = strconv.FormatUint(c.Seq, 10)
	}
	text := u.ID + "\x00" + c.Key + "\x00" + string(call) + "\x00" + again
	sum := sha256.Sum256([]byte(text))
	return "personas-" + hex.EncodeToString(sum[:16])
}

// value is the call as ingest writes one: a stable JSON object.
func value(u User, c *engine.Change, call schemas.Type, id string) []byte {
	b := append(make([]byte, 0, 384+len(u.ID)+len(c.Value)), `{"type":`...)
	b = stablejson.AppendString(b, string(call))
	b = append(b, `,"messageId":`...)
	b = stablejson.AppendString(b, id)
	if u.Anonymous {
		b = append(b, `,"anonymousId":`...)
	} else {
		b = append(b, `,"userId":`...)
	}
	b = stablejson.AppendString(b, u.ID)
	if call == schemas.TypeTrack {
		b = append(b, `,"event":`...)
		b = stablejson.AppendString(b, event(c))
		b = properties(b, c)
	} else {
		b = append(b, `,"traits":{`...)
		b = property(b, c)
		b = append(b, '}')
	}
	b = append(b, `,"timestamp":"`...)
	b = c.At.UTC().AppendFormat(b, schemas.TimeLayout)
	b = append(b, `","context":{"personas":{"computation_class":`...)
	b = stablejson.AppendString(b, string(c.Class))
	b = append(b, `,"computation_key":`...)
	b = stablejson.AppendString(b, c.Key)
	b = append(b, `,"computation_id":`...)
	b = stablejson.AppendString(b, c.ID)
	b = append(b, `,"version":`...)
	b = strconv.AppendInt(b, int64(c.Version), 10)
	b = append(b, `,"cause":`...)
	b = stablejson.AppendString(b, string(c.Cause))
	return append(b, "}}}"...)
}

func event(c *engine.Change) string {
	switch {
	case c.Class == engine.ClassComputedTrait:
		return "Trait Computed"
	case c.Member:
		return "Audience Entered"
	default:
		return "Audience Exited"
	}
}

// properties are those of a track call. Members whose keys are numbers stand first in a
// stable object.
func properties(b []byte, c *engine.Change) []byte {
	name := "audience_key"
	if c.Class == engine.ClassComputedTrait {
		name = "trait_key"
	}
	b = append(b, `,"properties":{`...)
	b = property(b, c)
	if c.Key != name {
		b = append(b, ',')
		b = stablejson.AppendString(b, name)
		b = append(b, ':')
		b = stablejson.AppendString(b, c.Key)
	}
	return append(b, '}')
}

func property(b []byte, c *engine.Change) []byte {
	b = append(stablejson.AppendString(b, c.Key), ':')
	if c.Class == engine.ClassComputedTrait {
		return append(b, c.Value...)
	}
	return strconv.AppendBool(b, c.Member)
}
