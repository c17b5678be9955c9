package schematest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/anabranch/anabranch/schemas"
)

// CheckEvent returns what is wrong with the text of an event on raw-events, and
// nil when every stage may rely on it: each member that a delivery carries is
// there if it has to be, and of one kind.
func CheckEvent(text []byte) error {
	var e event
	if err := json.Unmarshal(text, &e); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	t, ok := schemas.ParseType(e.text("type"))
	if !ok {
		return fmt.Errorf("type: found %s", e["type"])
	}
	if chars := utf8.RuneCountInString(e.text("messageId")); chars == 0 || chars > schemas.MaxMessageIDChars {
		return fmt.Errorf("messageId: found %d characters", chars)
	}
	if _, err := time.Parse(schemas.TimeLayout, e.text("timestamp")); err != nil {
		return fmt.Errorf("timestamp: %w", err)
	}
	return e.checkMembers(t)
}

// event is an event taken apart.
type event map[string]any

// text returns the string under key; "" when there is none.
func (e event) text(key string) string {
	text, _ := e[key].(string)
	return text
}

func (e event) checkMembers(t schemas.Type) error {
	if err := e.checkKinds(t); err != nil {
		return err
	}
	if e.text("userId") == "" && e.text("anonymousId") == "" {
		return fmt.Errorf("%s: found no id of a user", t)
	}
	for _, key := range required[t] {
		if e.text(key) == "" {
			return fmt.Errorf("%s: found no %s", t, key)
		}
	}
	if _, ok := e["writeKey"]; ok {
		return fmt.Errorf("%s: found a write key", t)
	}
	return nil
}

// required are the members that must be strings that are not empty.
var required = map[schemas.Type][]string{
	schemas.TypeTrack:  {"event"},
	schemas.TypeGroup:  {"groupId"},
	schemas.TypeAlias:  {"previousId", "userId"},
	schemas.TypeDelete: {"userId"},
}

// checkKinds holds each member that a delivery of the type may carry to its kind.
func (e event) checkKinds(t schemas.Type) error {
	for key, is := range kinds {
		if value, ok := e[key]; ok && is.borne(t) && !is.good(value) {
			return fmt.Errorf("%s: %s is %T", t, key, value)
		}
	}
	return nil
}

// kind is what a member has to be where it is borne: by all types, or by some.
type kind struct {
	good  func(value any) bool
	types []schemas.Type
}

func (k kind) borne(t schemas.Type) bool { return len(k.types) == 0 || slices.Contains(k.types, t) }

var kinds = map[string]kind{
	"userId":       {good: isID},
	"anonymousId":  {good: isID},
	"groupId":      {good: isID},
	"previousId":   {good: isID},
	"context":      {good: isObject},
	"integrations": {good: isObject},
	"properties":   {isObject, []schemas.Type{schemas.TypeTrack, schemas.TypePage, schemas.TypeScreen}},
	"traits":       {isObject, []schemas.Type{schemas.TypeIdentify, schemas.TypeGroup}},
	"name":         {isStringOrNull, []schemas.Type{schemas.TypePage, schemas.TypeScreen}},
	"category":     {isString, []schemas.Type{schemas.TypePage, schemas.TypeScreen}},
}

func isID(value any) bool {
	text, ok := value.(string)
	return ok && text != ""
}

func isString(value any) bool {
	_, ok := value.(string)
	return ok
}

func isStringOrNull(value any) bool { return value == nil || isString(value) }

func isObject(value any) bool {
	_, ok := value.(map[string]any)
	return ok
}
