package wsschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
)

// schema is a JSON Schema, with its keywords in the order in which they are read best.
type schema struct {
	Dialect     string   `json:"$schema,omitempty"`
	ID          string   `json:"$id,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Type        any      `json:"type,omitempty"`
	Default     any      `json:"default,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`
	Not         *schema  `json:"not,omitempty"`
	MinLength   int      `json:"minLength,omitempty"`
	MaxLength   int      `json:"maxLength,omitempty"`
	Minimum     *int64   `json:"minimum,omitempty"`
	Maximum     *int64   `json:"maximum,omitempty"`

	Items       *schema `json:"items,omitempty"`
	MinItems    int     `json:"minItems,omitempty"`
	MaxItems    int     `json:"maxItems,omitempty"`
	UniqueItems bool    `json:"uniqueItems,omitempty"`

	Required             []string   `json:"required,omitempty"`
	Properties           properties `json:"properties,omitempty"`
	PropertyNames        *schema    `json:"propertyNames,omitempty"`
	AdditionalProperties any        `json:"additionalProperties,omitempty"`
	MinProperties        int        `json:"minProperties,omitempty"`
	MaxProperties        int        `json:"maxProperties,omitempty"`
}

type property struct {
	name   string
	schema *schema
}

// properties keep the order of the declaration: editors offer them in it.
type properties []property

// MarshalJSON writes an object.
func (p properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, each := range p {
		text, err := plain(each.schema)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%c%q:%s", "{,"[min(i, 1)], each.name, text)
	}
	return append(b.Bytes(), '}'), nil
}

// plain is json.Marshal without escapes for HTML, which nobody wants to read.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return b.Bytes(), err
}

// Schema returns the JSON Schema of the workspace file.
func Schema() ([]byte, error) {
	return SchemaOf(workspace.Declaration(), "Anabranch workspace", "Which sources may send calls, and which destinations receive them.")
}

// SchemaOf returns the JSON Schema of a file of a shape.
func SchemaOf(shape *kind.Shape, title, description string) ([]byte, error) {
	s := schemaOf(shape)
	s.Dialect = "http://json-schema.org/draft-07/schema#"
	s.ID = "urn:anabranch:schema:workspace"
	s.Title, s.Description = title, description
	text, err := plain(s)
	if err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	var b bytes.Buffer
	err = json.Indent(&b, text, "", "  ")
	return b.Bytes(), err
}

func schemaOf(s *kind.Shape) *schema {
	switch s.Form {
	case kind.Bool:
		return &schema{Type: "boolean"}
	case kind.Number:
		return bounded(s)
	case kind.Struct:
		return structure(s)
	case kind.List:
		return &schema{Type: "array", Items: schemaOf(s.Elem), MinItems: s.Least, MaxItems: s.Most, UniqueItems: s.Elem.Unique != "" && s.Elem.Form == kind.Text}
	case kind.Mapping:
		return &schema{
			Type: "object", PropertyNames: names(s.Elem.Fields[0].Shape), AdditionalProperties: described(&s.Elem.Fields[1]),
			MinProperties: s.Least, MaxProperties: s.Most,
		}
	case kind.Map:
		return &schema{Type: "object", PropertyNames: names(s), AdditionalProperties: schemaOf(s.Elem)}
	case kind.Secret:
		return secret(s)
	case kind.Duration:
		return &schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$|^0$`}
	case kind.Text:
	}
	return text(s)
}

func structure(s *kind.Shape) *schema {
	object := &schema{Type: "object", AdditionalProperties: false}
	for i := range s.Fields {
		f := &s.Fields[i]
		object.Properties = append(object.Properties, property{f.Key, described(f)})
		if f.Required() {
			object.Required = append(object.Required, f.Key)
		}
	}
	return object
}

func described(f *kind.Field) *schema {
	of := schemaOf(f.Shape)
	of.Description = f.Desc
	if f.Rule.Words == nil {
		of.Description = explained(f.Desc, boundsOf(f))
	}
	switch absence := absence(f); {
	case f.Form == kind.Bool && !f.Required():
		of.Default = absence == "true"
	case f.Form == kind.Number && f.Default != "":
		of.Default = json.Number(f.Default)
	case f.Default != "":
		of.Default = f.Default
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

// text allows numbers and truth values too where a string of the same look would do.
func text(s *kind.Shape) *schema {
	of := names(s)
	switch {
	case s.Rule.Words != nil:
		return &schema{Enum: s.Rule.Words}
	case s.Rule.Check != nil && s.Rule.Check("1") != "":
		of.Type = "string"
	default:
		of.Type = []string{"string", "number", "boolean"}
	}
	return of
}

// names is the schema of a text that is a string in any case, such as a key.
func names(s *kind.Shape) *schema {
	of := &schema{Pattern: s.Rule.Pattern, MaxLength: s.Rule.Most}
	if s.Rule.Check != nil {
		of.MinLength = 1
	}
	if s.Rule.Never != "" {
		of.Not = &schema{Pattern: s.Rule.Never}
	}
	return of
}

// secret is a text, or a mapping with one key.
func secret(s *kind.Shape) *schema {
	of := names(s)
	of.Type = []string{"string", "number", "boolean", "object"}
	if of.Not != nil {
		of.Not.Type = "string" // a pattern alone would be met by all that is no string
	}
	reference := func(description string) *schema {
		return &schema{Description: description, Type: []string{"string", "number", "boolean"}, MinLength: 1}
	}
	of.Properties = properties{
		{"env", reference("name of the environment variable that holds it")},
		{"file", reference("path of the file that holds it, relative to this one")},
	}
	of.AdditionalProperties, of.MinProperties, of.MaxProperties = false, 1, 1
	return of
}

func bounded(s *kind.Shape) *schema {
	of := &schema{Type: "integer"}
	if s.Min != 0 || s.Max != 0 {
		of.Minimum, of.Maximum = &s.Min, &s.Max
	}
	return of
}
