package scenario

import (
	"slices"
	"strings"
)

// Limits are what an SDK cannot say. The names are those of the JSON members of
// [Call].
type Limits struct {
	// Types of calls that it does not have.
	Types []string
	// Fields that it cannot be given, for every type ("messageId") or for one
	// ("alias.context").
	Fields []string
	// Calls that it cannot make as they are, by their marks.
	Calls []string
}

// Apply returns the calls without what the SDK cannot say.
func (l *Limits) Apply(calls []Call) []Call {
	var kept []Call
	for _, c := range calls {
		if slices.Contains(l.Types, c.Type) || slices.Contains(l.Calls, c.Mark) {
			continue
		}
		for _, name := range l.Fields {
			of, field, qualified := strings.Cut(name, ".")
			if !qualified {
				c.drop(name)
			} else if of == c.Type {
				c.drop(field)
			}
		}
		kept = append(kept, c)
	}
	return kept
}

// drop empties one member. What identifies a call or its user is none of those
// that an SDK may lack.
func (c *Call) drop(field string) {
	switch field {
	case "anonymousId":
		c.AnonymousID = ""
	case "name":
		c.Name = ""
	case "category":
		c.Category = ""
	case "context":
		c.Context = nil
	case "integrations":
		c.Integrations = nil
	case "timestamp":
		c.Timestamp = ""
	case "messageId":
		c.MessageID = ""
	default:
		panic("scenario: no SDK lacks the field " + field)
	}
}
