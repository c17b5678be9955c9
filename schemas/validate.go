package schemas

import (
	"cmp"
	"fmt"
)

// Outline is what validation must know of a call; it says nothing of JSON.
// Whoever fills it in has already evened out what the SDKs send differently: an
// id that is null or "" is absent, a numeric id is its digits, and the empty
// array that PHP sends for an empty map is ShapeObject.
type Outline struct {
	Type        Type   // as the path or the call spells it, known or not; "" when there is none
	UserID      string // "" for absent, as for all ids
	AnonymousID string
	GroupID     string
	PreviousID  string

	Event      Shape
	EventEmpty bool // Event is ShapeString, and the string is ""
	Name       Shape
	Properties Shape
	Traits     Shape
}

// Validate returns the first rule that the call breaks, or nil when it may be
// accepted. Each rule applies only to the types whose deliveries carry the value
// in question. Rule: spec.md, B. Go library message types; the codes are the
// collection protocol's.
//
// The result is a *Violation, not an error: compare it with nil before it
// becomes one.
func (o *Outline) Validate() *Violation {
	if !o.acceptable() {
		return violation(CodeTypeUnknown, "found %s, expected one of identify, track, page, screen, group, alias", o.quotedType())
	}
	return cmp.Or(o.checkIDs(), o.checkEvent(), o.checkName(), o.checkProperties(), o.checkTraits())
}

// acceptable tells whether calls of this type come from sources. Delete does
// not: a deletion is requested elsewhere, by an operator.
func (o *Outline) acceptable() bool {
	known, ok := ParseType(string(o.Type))
	return ok && known != TypeDelete
}

func (o *Outline) quotedType() string {
	const limit = 32
	switch {
	case o.Type == "":
		return "no type"
	case len(o.Type) > limit:
		return fmt.Sprintf("type %q…", cut(string(o.Type), limit))
	default:
		return fmt.Sprintf("type %q", o.Type)
	}
}

func (o *Outline) checkIDs() *Violation {
	switch {
	case o.Type == TypeAlias:
		// An alias names both its ids; an anonymousId stands in for neither.
		return cmp.Or(o.require("previousId", o.PreviousID), o.require("userId", o.UserID))
	case o.UserID == "" && o.AnonymousID == "":
		return violation(CodeNoUserAnonID, "%s: found neither, expected a userId or an anonymousId", o.Type)
	case o.Type == TypeGroup:
		return o.require("groupId", o.GroupID)
	default:
		return nil
	}
}

func (o *Outline) require(key, id string) *Violation {
	if id != "" {
		return nil
	}
	return violation(CodeIDRequired, "%s: found no %s, expected a string that is not empty", o.Type, key)
}

func (o *Outline) checkEvent() *Violation {
	switch {
	case o.Type != TypeTrack:
		return nil
	case !o.Event.given():
		return violation(CodeEventNotDefined, "track: found %s for event, expected its name", o.Event)
	case o.Event != ShapeString:
		return violation(CodeEventNotString, "track: found %s for event, expected a string", o.Event)
	case o.EventEmpty:
		return violation(CodeEventNotDefined, "track: found an empty string for event, expected its name")
	default:
		return nil
	}
}

func (o *Outline) checkName() *Violation {
	if o.Type != TypePage && o.Type != TypeScreen || !o.Name.given() || o.Name == ShapeString {
		return nil
	}
	return violation(CodeNameNotString, "%s: found %s for name, expected a string", o.Type, o.Name)
}

func (o *Outline) checkProperties() *Violation {
	switch o.Type {
	case TypeTrack, TypePage, TypeScreen:
		return o.checkObject("properties", o.Properties, CodePropertiesNotObject)
	default:
		return nil
	}
}

func (o *Outline) checkTraits() *Violation {
	switch o.Type {
	case TypeIdentify, TypeGroup:
		return o.checkObject("traits", o.Traits, CodeTraitsNotObject)
	default:
		return nil
	}
}

func (o *Outline) checkObject(key string, shape Shape, code Code) *Violation {
	if !shape.given() || shape == ShapeObject {
		return nil
	}
	return violation(code, "%s: found %s for %s, expected an object", o.Type, shape, key)
}

func violation(code Code, format string, args ...any) *Violation {
	return &Violation{Code: code, Message: fmt.Sprintf(format, args...)}
}
