package definition

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// object is a piece of a JSON Schema of draft-07.
type object = map[string]any

const (
	wantName      = "a name of printable characters, 1 to 256 bytes"
	wantCondition = "a condition: a mapping with one of the keys "
	wantPreds     = `a mapping of paths to tests, such as {price: {gte: 100}}, or a list of those`
	wantDid       = `an event's name, {page: NAME} or {screen: NAME}; "*" is any name`
)

// The notations that are not words of a closed set.
func idNotation() notation {
	return notation{wantID, "text", object{"type": "string", "minLength": 1, "maxLength": MaxIDBytes}}
}

func nameNotation() notation {
	return notation{wantName, "text", object{"type": "string", "minLength": 1, "maxLength": maxName}}
}

func boolNotation() notation {
	return notation{"true or false", "true or false", object{"type": "boolean"}}
}

func durationNotation(least string) notation {
	return notation{wantDuration, "duration", object{"type": "string", "pattern": "^" + least + "[0-9]*[smhdw]$"}}
}

func timeNotation() notation {
	return notation{wantTime, "time", object{"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T.+)?$"}}
}

func pathNotation() notation {
	return notation{wantPath, "path", object{"type": "string", "minLength": 1, "maxLength": maxPathBytes}}
}

func wordNotation[T ~string](words ...T) notation {
	return notation{"one of " + join(words, ", "), "word", object{"enum": words}}
}

func wholeNotation(most int) notation {
	return notation{wantWhole(most), "number", object{"type": "integer", "minimum": 1, "maximum": most}}
}

func idsNotation(of string, most int) notation {
	schema := object{"type": "array", "items": object{"type": "string"}, "minItems": 1, "uniqueItems": true}
	if most > 0 {
		schema["maxItems"] = most
	}
	return notation{"a list of ids of " + of, "list of text", schema}
}

// refNotation is one of the parts that the grammar gives a name, which may contain itself.
func refNotation(part, want string) notation {
	return notation{want, part, object{"$ref": "#/definitions/" + part}}
}

func historyNotation() notation {
	return notation{
		"full, none or " + wantDuration, "full | none | duration",
		object{"type": "string", "pattern": "^(full|none|[1-9][0-9]*[smhdw])$"},
	}
}

func betweenNotation() notation {
	return notation{"two durations, the longer first, such as [90d, 30d]", "two durations", object{
		"type": "array", "items": durationNotation("[1-9]").schema, "minItems": 2, "maxItems": 2,
	}}
}

func didNotation() notation {
	name := nameNotation().schema
	one := func(key string) object {
		return object{"type": "object", "properties": object{key: name}, "required": []string{key}, "additionalProperties": false}
	}
	return notation{wantDid, "event", object{"anyOf": []any{name, one("page"), one("screen")}}}
}

// validName is for the names of events and definitions. One with characters that nobody
// sees never means what it looks like.
func validName(name string) bool {
	unseen := func(r rune) bool { return !unicode.IsPrint(r) }
	return name != "" && len(name) <= maxName && utf8.ValidString(name) && !strings.ContainsFunc(name, unseen)
}
