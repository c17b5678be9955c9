package decode

import (
	"fmt"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/anabranch/anabranch/ingest/internal/decode/internal/member"
	"github.com/anabranch/anabranch/ingest/internal/timestamp"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// Keys of a call that mean something here; all others are kept as they are.
const (
	keyType         = "type"
	keyMessageID    = "messageId"
	keyUserID       = "userId"
	keyAnonymousID  = "anonymousId"
	keyGroupID      = "groupId"
	keyPreviousID   = "previousId"
	keyEvent        = "event"
	keyName         = "name"
	keyCategory     = "category"
	keyProperties   = "properties"
	keyTraits       = "traits"
	keyContext      = "context"
	keyIntegrations = "integrations"
	keyTimestamp    = "timestamp"
	keyOriginal     = "originalTimestamp"
	keySentAt       = "sentAt"
	keyReceivedAt   = "receivedAt"
	keyChannel      = "channel"
	keyWriteKey     = "writeKey"
)

// complete judges one call and writes its canonical form, unless nothing may be
// stored of its user. A violation leaves nothing behind.
func (p *press) complete(c *call, path schemas.Type, batch *surroundings) *schemas.Violation {
	switch {
	case c.refused != nil:
		return c.refused
	case !c.object:
		return &schemas.Violation{Code: schemas.CodeInvalidJSON, Message: "the call is not a JSON object"}
	case c.bytes > schemas.MaxCallBytes:
		return tooLarge("the call is longer than %d bytes", schemas.MaxCallBytes)
	case c.deep:
		return tooLarge("with the batch around it the call is nested deeper than %d levels", schemas.MaxDepth)
	}
	o := &c.members
	o.Delete(keyWriteKey) // a secret: it must not reach the topic
	if p.terms.Import != nil {
		for _, key := range p.terms.Import.Drop {
			o.Delete(key)
		}
	}
	outline, violation := p.outline(o, path)
	if violation == nil {
		violation = outline.Validate()
	}
	if violation != nil {
		return violation
	}
	messageID, violation := p.setMessageID(o)
	if violation != nil {
		return violation
	}
	if p.suppresses(o, outline.Type) {
		p.suppressed++
		return nil
	}
	if violation := p.mergeBatch(o, batch); violation != nil {
		return violation
	}
	if p.terms.IP.IsValid() {
		p.editor.FillIP(o, p.terms.IP, p.terms.FillIP)
	}
	p.setTimes(o, batch)
	return p.finish(o, outline.Type, messageID)
}

// outline evens out what SDKs send differently (ids, empty maps, the type that
// the path has) and returns what validation has to know.
func (p *press) outline(o *stablejson.Object, path schemas.Type) (schemas.Outline, *schemas.Violation) {
	outline := schemas.Outline{Type: p.setType(o, path)}
	for _, id := range []struct {
		key  string
		to   *string
		code schemas.Code
	}{
		{keyUserID, &outline.UserID, schemas.CodeNoUserAnonID},
		{keyAnonymousID, &outline.AnonymousID, schemas.CodeNoUserAnonID},
		{keyGroupID, &outline.GroupID, schemas.CodeIDRequired},
		{keyPreviousID, &outline.PreviousID, schemas.CodeIDRequired},
	} {
		value, ok := p.setID(o, id.key)
		if !ok {
			return outline, &schemas.Violation{Code: id.code, Message: id.key + ": expected a string or a number"}
		}
		if value != nil {
			*id.to = isGiven
		}
	}
	outline.Properties = member.EvenMap(o, keyProperties)
	outline.Traits = member.EvenMap(o, keyTraits)
	for _, key := range []string{keyContext, keyIntegrations} {
		if member.EvenMap(o, key) != schemas.ShapeObject {
			o.Delete(key)
		}
	}
	event := o.Get(keyEvent)
	outline.Event, outline.EventEmpty = member.Shape(event), string(event) == `""`
	outline.Name = member.Shape(o.Get(keyName))
	if outline.Type == schemas.TypePage || outline.Type == schemas.TypeScreen {
		p.evenCategory(o)
	}
	return outline, nil
}

// evenCategory makes the category of a page or screen a string where it can: a
// delivery has no other, and no rule of the protocol refuses one. A number
// becomes its digits, as an id does; a value of any other kind counts as absent.
func (p *press) evenCategory(o *stablejson.Object) {
	value := o.Get(keyCategory)
	switch stablejson.KindOf(value) {
	case stablejson.KindInvalid, stablejson.KindString:
	case stablejson.KindNumber:
		p.scratch, _ = member.ID(value, p.scratch)
		o.Set(keyCategory, p.scratch)
	default:
		o.Delete(keyCategory)
	}
}

// setType returns the call's type, that of the path before its own.
func (p *press) setType(o *stablejson.Object, path schemas.Type) schemas.Type {
	own := o.Get(keyType)
	if path == "" {
		return member.Type(own)
	}
	p.scratch = stablejson.AppendString(p.scratch[:0], string(path))
	if string(own) != string(p.scratch) {
		o.Set(keyType, p.scratch)
	}
	return path
}

// isGiven stands for an id in an outline: validation asks whether there is one,
// and its text would have to be copied.
const isGiven = "given"

// setID makes the id under key a string, or absent, and returns it as JSON.
func (p *press) setID(o *stablejson.Object, key string) (id []byte, ok bool) {
	value := o.Get(key)
	if value == nil {
		return nil, true
	}
	id, ok = member.ID(value, p.scratch)
	switch {
	case !ok:
	case id == nil:
		o.Delete(key)
	case stablejson.KindOf(value) == stablejson.KindNumber:
		p.scratch = id
		o.Set(key, id)
	}
	return id, ok
}

// setMessageID returns the id that tells repetitions of the call apart, and
// makes one for a call that has none of use.
func (p *press) setMessageID(o *stablejson.Object) (string, *schemas.Violation) {
	id, _ := p.setID(o, keyMessageID)
	text, ok := stablejson.Text(id)
	if !ok {
		text = p.newMessageID()
		p.scratch = stablejson.AppendString(p.scratch[:0], text)
		o.Set(keyMessageID, p.scratch)
	}
	if len(text) > schemas.MaxMessageIDChars && utf8.RuneCountInString(text) > schemas.MaxMessageIDChars {
		return "", tooLarge("messageId: expected at most %d characters", schemas.MaxMessageIDChars)
	}
	return text, nil
}

func (p *press) newMessageID() string {
	if p.terms.Import != nil {
		return p.terms.Import.MessageID(p.row)
	}
	return uuid.NewString()
}

// mergeBatch merges what the batch says of all its calls into one of them.
func (p *press) mergeBatch(o *stablejson.Object, batch *surroundings) *schemas.Violation {
	// Before the work: it would be done for each of 2,500 calls.
	if batch.context.Size()+batch.integrations.Size() > maxRecordBytes {
		return tooLarge("with the batch's context the call is longer than %d bytes", maxRecordBytes)
	}
	p.editor.Merge(o, keyContext, &batch.context)
	p.editor.Merge(o, keyIntegrations, &batch.integrations)
	if len(o.Get(keyIntegrations)) > schemas.MaxIntegrationsBytes {
		return tooLarge("integrations: expected at most %d bytes", schemas.MaxIntegrationsBytes)
	}
	return nil
}

// setTimes replaces the client's time stamps by those that hold, all in one
// shape. What can't be read is left out.
func (p *press) setTimes(o *stablejson.Object, batch *surroundings) {
	if p.terms.Import != nil {
		p.keepTimes(o)
		return
	}
	var s timestamp.Stamps
	s.Own = p.ownTime(o)
	s.SentAt = p.stamps.First(o.Get(keySentAt), batch.sentAt)
	p.skew.Note(s.SentAt, p.receivedAt)
	at, ok := s.Correct(p.receivedAt)
	if !ok {
		p.stamps.Unreadable++
	}
	p.setStamp(o, keyTimestamp, timestamp.Stamp{Millis: at, Given: true})
	p.setStamp(o, keyOriginal, s.Own)
	p.setStamp(o, keySentAt, s.SentAt)
	p.setStamp(o, keyReceivedAt, timestamp.Stamp{Millis: p.receivedAt, Given: true})
}

// ownTime is when the client says that it happened: originalTimestamp, else
// timestamp (protocol, 10). A channel beside both is RudderStack's mark: its server
// SDKs put the present time into originalTimestamp, and what their user has given,
// for a historical import, stands in timestamp.
func (p *press) ownTime(o *stablejson.Object) timestamp.Stamp {
	original, given := o.Get(keyOriginal), o.Get(keyTimestamp)
	if given != nil && o.Get(keyChannel) != nil {
		return p.stamps.First(given, original)
	}
	return p.stamps.First(original, given)
}

func (p *press) setStamp(o *stablejson.Object, key string, s timestamp.Stamp) {
	if !s.Given {
		o.Delete(key)
		return
	}
	p.scratch = timestamp.Append(p.scratch[:0], s.Millis)
	o.Set(key, p.scratch)
}

// claimedID returns the call's messageId as far as it may be one, for the list
// of refusals.
func (c *call) claimedID() string {
	value, _ := member.ID(c.members.Get(keyMessageID), nil)
	id, _ := stablejson.Text(value)
	chars := 0
	for i := range id {
		if chars == schemas.MaxMessageIDChars {
			return id[:i]
		}
		chars++
	}
	return id
}

func tooLarge(format string, limit int) *schemas.Violation {
	return &schemas.Violation{Code: schemas.CodeTooLarge, Message: fmt.Sprintf(format, limit)}
}
