package wsschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
)

// schema is a JSON Schema, by keyword.
type schema map[string]any

// trimmed leaves out what says nothing: no bound, no pattern, nothing required.
func (s schema) trimmed() schema {
	maps.DeleteFunc(s, func(keyword string, value any) bool {
		return keyword != "additionalProperties" && reflect.ValueOf(value).IsZero()
	})
	return s
}

// Schema returns the JSON Schema of the workspace file.
func Schema() ([]byte, error) {
	return SchemaOf(workspace.Declaration(), "Anabranch workspace", "Which sources may send calls, which destinations receive them, and what is computed of users.")
}

// SchemaOf returns the JSON Schema of a file of a shape.
func SchemaOf(shape *kind.Shape, title, description string) ([]byte, error) {
	s := schemaOf(shape)
	if hasTrees(shape) {
		s["definitions"] = definition.SchemaParts()
	}
	s["$schema"], s["$id"] = "http://json-schema.org/draft-07/schema#", "urn:anabranch:schema:workspace"
	s["title"], s["description"] = title, description
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // nobody wants to read <
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(s); err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return b.Bytes(), nil
}

// hasTrees tells whether something below describes itself by the parts of the grammar.
func hasTrees(s *kind.Shape) bool {
	return s.Form == kind.Tree || s.Elem != nil && hasTrees(s.Elem) ||
		slices.ContainsFunc(s.Fields, func(f kind.Field) bool { return hasTrees(f.Shape) })
}

func schemaOf(s *kind.Shape) schema {
	switch s.Form {
	case kind.Tree:
		of, _ := kind.Owner(reflect.Zero(s.Type)).Describe()
		return of
	case kind.Bool:
		return schema{"type": "boolean"}
	case kind.Number:
		of := schema{"type": "integer"}
		if s.Bounds() != "" {
			of["minimum"], of["maximum"] = s.Min, s.Max
		}
		return of
	case kind.Duration:
		return schema{"type": "string", "pattern": `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$|^0$`}
	case kind.Struct:
		return structure(s)
	case kind.List:
		return schema{"type": "array", "items": schemaOf(s.Elem), "minItems": s.Least, "maxItems": s.Most, "uniqueItems": s.Elem.Unique != ""}.trimmed()
	case kind.Mapping:
		name, value := s.Elem.Fields[0].Shape, &s.Elem.Fields[1]
		return schema{
			"type": "object", "propertyNames": key(name), "additionalProperties": described(value), "minProperties": s.Least, "maxProperties": s.Most,
		}.trimmed()
	case kind.Map:
		return schema{"type": "object", "propertyNames": key(s), "additionalProperties": schemaOf(s.Elem)}
	case kind.Text, kind.Secret:
	}
	return text(s)
}

func structure(s *kind.Shape) schema {
	var required []string
	properties := make(schema, len(s.Fields))
	for i := range s.Fields {
		f := &s.Fields[i]
		properties[f.Key] = described(f)
		if f.Required() && f.Only.Key == "" {
			required = append(required, f.Key)
		}
	}
	return schema{"type": "object", "properties": properties, "additionalProperties": false, "required": required, "allOf": cases(s)}.trimmed()
}

// cases says for each word that decides about other fields which of them are required with
// it, and which are not allowed.
func cases(s *kind.Shape) []schema {
	owner := s.Decides()
	if owner == nil {
		return nil
	}
	var all []schema
	for _, word := range owner.Rule.Words {
		when := schema{"properties": schema{owner.Key: schema{"const": word}}}
		if word != owner.Default {
			when["required"] = []string{owner.Key}
		}
		all = append(all, schema{"if": when, "then": caseOf(s, word)})
	}
	return all
}

func caseOf(s *kind.Shape, word string) schema {
	var required []string
	properties := make(schema)
	for i := range s.Fields {
		f := &s.Fields[i]
		switch {
		case f.Only.Key == "":
		case f.Only.Word != word:
			properties[f.Key] = false
		case f.Required():
			properties[f.Key] = true // Ajv's strict mode asks for it
			required = append(required, f.Key)
		}
	}
	return schema{"properties": properties, "required": required}.trimmed()
}

func described(f *kind.Field) schema {
	of := schemaOf(f.Shape)
	of["description"] = f.Desc
	if f.Rule.Words == nil {
		of["description"] = explained(f.Desc, boundsOf(f))
	}
	switch value := absence(f); {
	case value == "":
	case f.Form == kind.Bool:
		of["default"] = value == "true"
	case f.Form == kind.Number:
		of["default"] = json.Number(value)
	default:
		of["default"] = value
	}
	return of
}

// absence says what it means when a file lacks an optional field: a value, or empty
// where it means that there is none.
func absence(f *kind.Field) string {
	if f.Form == kind.Bool && f.Optional {
		return strconv.FormatBool(f.Not)
	}
	return f.Default
}

// key is the schema of a text that is a string in any case.
func key(s *kind.Shape) schema {
	of := schema{"pattern": s.Rule.Pattern, "maxLength": s.Rule.Most}.trimmed()
	if s.Rule.Check != nil {
		of["minLength"] = 1
	}
	if s.Rule.Never != "" {
		of["not"] = schema{"type": "string", "pattern": s.Rule.Never} // without the type, numbers would be refused
	}
	return of
}

// text allows numbers and truth values too where a string of the same look would do.
func text(s *kind.Shape) schema {
	if s.Rule.Words != nil {
		return schema{"enum": s.Rule.Words}
	}
	switch {
	case s.Form == kind.Secret:
		return schema{"anyOf": append(scalars(key(s)), schema{
			"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
			"properties": schema{
				"env":  schema{"anyOf": scalars(schema{"minLength": 1}), "description": "name of the environment variable that holds it"},
				"file": schema{"anyOf": scalars(schema{"minLength": 1}), "description": "path of the file that holds it, relative to this one"},
			},
		})}
	case s.Rule.Check != nil && s.Rule.Check("1") != "" && s.Rule.Check("100") != "" && s.Rule.Check("true") != "":
		of := key(s)
		of["type"] = "string"
		return of
	default:
		return schema{"anyOf": scalars(key(s))}
	}
}

// scalars are a string and what may be written in its place. Ajv's strict mode takes no
// list of types.
func scalars(text schema) []schema {
	text["type"] = "string"
	return []schema{text, {"type": "number"}, {"type": "boolean"}}
}
