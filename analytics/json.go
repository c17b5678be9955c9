package analytics

import (
	"cmp"
	"encoding/json"
	"maps"
	"time"
)

// Messages are written and read as those of version 2 are: with the members of the
// embedded [Message] beside their own. Where two fields are one member, the one that
// goes before the other is written, and both are set when it is read.

// with returns the members that are in both places, in one.
func (m Message) with(id, timestamp string, at time.Time) Message {
	m.MessageId = cmp.Or(id, m.MessageId)
	m.Timestamp = cmp.Or(timestamp, m.Timestamp)
	if m.Timestamp == "" && !at.IsZero() {
		m.Timestamp = at.Format(time.RFC3339Nano)
	}
	return m
}

// together puts the two names of a page's properties together.
func together(traits, properties map[string]any) map[string]any {
	all := make(map[string]any, len(traits)+len(properties))
	maps.Copy(all, traits)
	maps.Copy(all, properties)
	return all
}

// unmarshal reads a message, and sets what is in two places in the other one, too.
func unmarshal(text []byte, message any, common *Message, id, timestamp *string) error {
	err := json.Unmarshal(text, message)
	*id, *timestamp = common.MessageId, common.Timestamp
	return err
}

// MarshalJSON is for encoding/json.
func (m Identify) MarshalJSON() ([]byte, error) {
	type plain Identify
	m.Message = m.with(m.MessageId, m.Timestamp, m.Time)
	return json.Marshal(plain(m))
}

// UnmarshalJSON is for encoding/json.
func (m *Identify) UnmarshalJSON(text []byte) error {
	type plain Identify
	return unmarshal(text, (*plain)(m), &m.Message, &m.MessageId, &m.Timestamp)
}

// MarshalJSON is for encoding/json.
func (m Track) MarshalJSON() ([]byte, error) {
	type plain Track
	m.Message = m.with(m.MessageId, m.Timestamp, m.Time)
	return json.Marshal(plain(m))
}

// UnmarshalJSON is for encoding/json.
func (m *Track) UnmarshalJSON(text []byte) error {
	type plain Track
	return unmarshal(text, (*plain)(m), &m.Message, &m.MessageId, &m.Timestamp)
}

// MarshalJSON is for encoding/json.
func (m Page) MarshalJSON() ([]byte, error) {
	type plain Page
	m.Message = m.with(m.MessageId, m.Timestamp, m.Time)
	m.Traits = together(m.Traits, m.Properties)
	return json.Marshal(plain(m))
}

// UnmarshalJSON is for encoding/json.
func (m *Page) UnmarshalJSON(text []byte) error {
	type plain Page
	err := unmarshal(text, (*plain)(m), &m.Message, &m.MessageId, &m.Timestamp)
	m.Properties = m.Traits
	return err
}

// MarshalJSON is for encoding/json.
func (m Screen) MarshalJSON() ([]byte, error) {
	type plain Screen
	m.Message = m.with(m.MessageId, m.Timestamp, m.Time)
	m.Traits = together(m.Traits, m.Properties)
	return json.Marshal(plain(m))
}

// UnmarshalJSON is for encoding/json.
func (m *Screen) UnmarshalJSON(text []byte) error {
	type plain Screen
	err := unmarshal(text, (*plain)(m), &m.Message, &m.MessageId, &m.Timestamp)
	m.Properties = m.Traits
	return err
}

// MarshalJSON is for encoding/json.
func (m Group) MarshalJSON() ([]byte, error) {
	type plain Group
	m.Message = m.with(m.MessageId, m.Timestamp, m.Time)
	return json.Marshal(plain(m))
}

// UnmarshalJSON is for encoding/json.
func (m *Group) UnmarshalJSON(text []byte) error {
	type plain Group
	return unmarshal(text, (*plain)(m), &m.Message, &m.MessageId, &m.Timestamp)
}

// MarshalJSON is for encoding/json.
func (m Alias) MarshalJSON() ([]byte, error) {
	type plain Alias
	m.Message = m.with(m.MessageId, m.Timestamp, m.Time)
	return json.Marshal(plain(m))
}

// UnmarshalJSON is for encoding/json.
func (m *Alias) UnmarshalJSON(text []byte) error {
	type plain Alias
	return unmarshal(text, (*plain)(m), &m.Message, &m.MessageId, &m.Timestamp)
}
