package definition

import (
	"maps"
	"strings"
)

// Row is one key in the reference.
type Row struct {
	Key, Type, Initial, Meaning string
}

// Part is a part of the grammar that has a name: what may stand at several places, and
// within itself.
type Part struct {
	Name, Meaning string
	Rows          []Row
}

// AudienceSchema returns the JSON Schema of an audience. Its references lead to
// [SchemaParts], below "#/definitions/".
func AudienceSchema() map[string]any { return schemaOf(audienceMembers()) }

// TraitSchema is [AudienceSchema] of a computed trait.
func TraitSchema() map[string]any { return schemaOf(traitMembers()) }

// AudienceRows describes the keys of an audience.
func AudienceRows() []Row { return rowsOf(audienceMembers()) }

// TraitRows describes those of a computed trait.
func TraitRows() []Row { return rowsOf(traitMembers()) }

// Parts describes the parts of the grammar.
func Parts() []Part {
	condition := Part{Name: "condition", Meaning: "exactly one of " + strings.Join(formKeys(), ", ")}
	for _, f := range conditionForms(1) {
		for i, row := range rowsOf(f.members) {
			if i == 0 { // which decides that it is this form
				row.Initial, row.Meaning = "", f.desc+": "+row.Meaning
			}
			condition.Rows = append(condition.Rows, row)
		}
	}
	filter := Part{Name: "filter", Meaning: wantPreds}
	filter.Rows = []Row{{Key: "<path>", Type: "test", Meaning: "of a property, or below context; " + wantPath}}
	test := Part{Name: "test", Meaning: anyValue.notation().want}
	for _, o := range operators() {
		test.Rows = append(test.Rows, Row{Key: string(o.op), Type: o.with.notation(anyValue).name, Meaning: o.desc})
	}
	return []Part{condition, filter, test}
}

func rowsOf[T any](table []member[T]) []Row {
	rows := make([]Row, len(table))
	for i, m := range table {
		rows[i] = Row{Key: m.key, Type: m.what.name, Initial: m.initial, Meaning: m.desc}
		if _, isWord := m.what.schema["enum"]; isWord {
			rows[i].Meaning += " (" + m.what.want + ")"
		}
	}
	return rows
}

// schemaOf returns the schema of a mapping.
func schemaOf[T any](table []member[T]) object {
	properties := make(object, len(table))
	needed := []string{}
	for _, m := range table {
		of := maps.Clone(m.what.schema)
		if _, isRef := of["$ref"]; isRef { // beside which draft-07 reads nothing
			of = object{"allOf": []any{of}}
		}
		of["description"] = m.desc
		properties[m.key] = of
		if m.initial == required {
			needed = append(needed, m.key)
		}
	}
	return object{"type": "object", "properties": properties, "required": needed, "additionalProperties": false}
}

// SchemaParts returns the schemas of the parts, by name.
func SchemaParts() map[string]any {
	forms := conditionForms(1)
	conditions := make([]any, len(forms))
	for i, f := range forms {
		s := schemaOf(f.members)
		s["description"] = f.desc
		conditions[i] = s
	}
	preds := object{"type": "object", "minProperties": 1, "additionalProperties": anyValue.notation().schema, "propertyNames": object{"type": "string", "minLength": 1, "maxLength": maxPathBytes}}
	parts := object{
		"condition": object{"description": wantOneCondition(), "anyOf": conditions},
		"filter":    object{"anyOf": []any{preds, object{"type": "array", "minItems": 1, "items": preds}}},
	}
	for _, d := range []*domain{anyValue, number, count, listValue, seenTime} {
		parts[d.part()] = d.schema()
	}
	return parts
}

// schema is that of the tests of a domain.
func (d *domain) schema() object {
	operations := make(object)
	for _, o := range operators() {
		if d.allows(o.op) {
			of := maps.Clone(o.with.notation(d).schema)
			of["description"] = o.desc
			operations[string(o.op)] = of
		}
	}
	ways := []any{object{"type": "object", "minProperties": 1, "properties": operations, "additionalProperties": false}}
	if d.allows(In) {
		ways = append(ways, someScalars.notation(d).schema)
	}
	if d.allows(Eq) {
		ways = append(ways, aScalar.notation(d).schema)
	}
	return object{"description": d.notation().want, "anyOf": ways}
}

// notation is that of the operand in a domain.
func (o operand) notation(d *domain) notation {
	scalar := object{"anyOf": []any{object{"type": "string"}, object{"type": "number"}, object{"type": "boolean"}}}
	switch {
	case d.integer:
		scalar = object{"type": "integer", "minimum": 0}
	case d.numbers:
		scalar = object{"type": "number"}
	}
	switch o {
	case someScalars:
		return notation{"a list of values", "list of values", object{"type": "array", "items": scalar, "minItems": 1, "uniqueItems": true}}
	case aNumber:
		if !d.numbers {
			scalar = object{"type": "number"}
		}
		return notation{"a number", "number", scalar}
	case aText:
		return notation{"text", "text", object{"type": "string"}}
	case aBool:
		return boolNotation()
	case aTime:
		return timeNotation()
	case aDuration:
		return durationNotation("[1-9]")
	default:
		return notation{d.scalar(), "value", scalar}
	}
}
