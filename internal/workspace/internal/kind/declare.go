package kind

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/workspace/internal/rules"
	"github.com/anabranch/anabranch/schemas"
)

// renames are other keys for the fields of a struct.
type renames map[string]string

// Of returns the shape that the tags of a type declare. It panics on a
// declaration that makes no sense: that is a mistake in the program.
func Of(t reflect.Type) *Shape { return declare(t, "", "", nil) }

// declare returns the shape of a field, or of the elements of one.
func declare(t reflect.Type, key string, tag reflect.StructTag, other renames) *Shape {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, options := options(tag)
	s := &Shape{Form: formOf(t, options), Type: t, Key: key, Not: options["not"], EmptyIsThere: options["nil"]}
	other = maps.Clone(other)
	for pair := range strings.FieldsSeq(tag.Get("rename")) {
		if other == nil {
			other = make(renames)
		}
		from, to, _ := strings.Cut(pair, "=")
		other[from] = to
	}
	switch s.Form {
	case Struct:
		s.Fields = fields(t, other)
	case List, Mapping, Map:
		s.Elem = declare(t.Elem(), "", forElements(s.Form, tag), other)
		s.Least, s.Most = lengths(tag.Get("items"))
	case Number, Duration:
		s.Min, s.Max = s.bounds(tag.Get("min"), tag.Get("max"))
	case Text, Secret, Bool, Tree:
	}
	if s.Form != List && s.Form != Mapping {
		s.Rule = ruleOf(tag, s.Form)
		s.Ref, s.Beside = tag.Get("ref"), tag.Get("beside")
		unique, how, _ := strings.Cut(tag.Get("unique"), ",")
		s.Unique, s.Fold = unique, how == "fold"
	}
	s.Want = s.want(tag.Get("want"))
	return s
}

// forElements returns what the tag of a list or map says of its elements.
func forElements(form Form, tag reflect.StructTag) reflect.StructTag {
	var elements strings.Builder
	fmt.Fprintf(&elements, "want:%q", tag.Get("each"))
	for _, name := range []string{"rule", "enum", "ref", "beside", "unique", "min", "max"} {
		if text, ok := tag.Lookup(name); ok && form == List {
			fmt.Fprintf(&elements, " %s:%q", name, text)
		}
	}
	return reflect.StructTag(elements.String())
}

func fields(t reflect.Type, other renames) []Field {
	var all []Field
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		key, options := options(tag)
		if key == "" {
			continue
		}
		record := key
		if text, ok := tag.Lookup("record"); ok {
			record = strings.TrimPrefix(text, "-")
		}
		if text, ok := other[key]; ok {
			key = text
		}
		f := Field{
			Shape: declare(t.Field(i).Type, key, tag, other), Index: i, Record: record, Kind: tag.Get("kind"), Desc: tag.Get("desc"),
			Optional: options["optional"], Default: tag.Get("default"), Else: tag.Get("else"),
		}
		f.Absent = f.Default
		if text, ok := tag.Lookup("absent"); ok {
			f.Absent = text
		}
		f.Only = onlyWith(tag.Get("only"), all)
		all = append(all, f)
	}
	if len(all) == 0 {
		panic(fmt.Sprintf("declaration of %s: no fields", t))
	}
	return all
}

// onlyWith reads a tag such as "type=topic", which names a field before.
func onlyWith(tag string, before []Field) Only {
	if tag == "" {
		return Only{}
	}
	key, word, _ := strings.Cut(tag, "=")
	differs := func(f Field) bool { return f.Only.Key != "" && f.Only.Key != key }
	if slices.ContainsFunc(before, differs) || !slices.ContainsFunc(before, func(f Field) bool { return f.Key == key && slices.Contains(f.Rule.Words, word) }) {
		panic("declaration: no field before that may say " + tag)
	}
	return Only{key, word}
}

// options splits the tag of a field's key.
func options(tag reflect.StructTag) (key string, set map[string]bool) {
	parts := strings.Split(tag.Get("file"), ",")
	set = make(map[string]bool)
	for _, option := range parts[1:] {
		if !slices.Contains([]string{"optional", "not", "mapping", "nil"}, option) {
			panic(fmt.Sprintf("declaration of %s: no option %q", parts[0], option))
		}
		set[option] = true
	}
	return parts[0], set
}

// lengths returns the bounds that a tag such as "1-5" gives.
func lengths(tag string) (least, most int) {
	if tag == "" {
		return 0, 0
	}
	if n, err := fmt.Sscanf(tag, "%d-%d", &least, &most); n != 2 || err != nil || most < max(1, least) {
		panic(fmt.Sprintf("declaration: no lengths %q", tag))
	}
	return least, most
}

func formOf(t reflect.Type, options map[string]bool) Form {
	switch {
	case t == reflect.TypeFor[schemas.Secret](), reflect.PointerTo(t).Implements(reflect.TypeFor[Hash]()):
		return Secret
	case reflect.PointerTo(t).Implements(reflect.TypeFor[Own]()):
		return Tree
	case t.Kind() == reflect.Int64 && reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return Text
	case t == reflect.TypeFor[time.Duration]():
		return Duration
	case options["mapping"]:
		return Mapping
	}
	switch t.Kind() {
	case reflect.String:
		return Text
	case reflect.Bool:
		return Bool
	case reflect.Int, reflect.Int32, reflect.Int64:
		return Number
	case reflect.Struct:
		return Struct
	case reflect.Slice:
		return List
	case reflect.Map:
		return Map
	default:
		panic(fmt.Sprintf("declaration: no form for %s", t))
	}
}

func ruleOf(tag reflect.StructTag, form Form) rules.Rule {
	if words := strings.Fields(tag.Get("enum")); len(words) > 0 {
		return rules.OneOf(words...)
	}
	name := tag.Get("rule")
	if form == Map {
		name = tag.Get("keys")
	}
	rule, known := rules.Named(name)
	if !known && name != "" {
		panic("declaration: no rule " + name)
	}
	return rule
}

// want returns what is expected where nothing or something of another form stands.
func (s *Shape) want(declared string) string {
	switch {
	case declared != "":
		return strings.ReplaceAll(declared, "{key}", s.Key)
	case s.Form == Text && s.Rule.Want != "":
		return s.Rule.Want
	case s.Ref != "":
		id, _ := rules.Named("id")
		return id.Want
	case s.Form == Struct && s.Fields[0].Kind != "":
		return fmt.Sprintf("%s; `%s: []` says that there are none", keyList(s.required()), s.Fields[0].Key)
	}
	switch s.Form {
	case Secret:
		return "text, {env: NAME} or {file: PATH}"
	case Bool:
		return "true or false"
	case Number, Duration:
		want := map[Form]string{Number: "a whole number", Duration: "a duration such as 30m or 24h"}[s.Form]
		return strings.TrimSuffix(want+", "+s.Bounds(), ", ")
	case Struct:
		return "a mapping with " + keyList(s.Keys())
	case List:
		if s.Least > 0 {
			return s.lengths()
		}
		return fmt.Sprintf("a list of %[1]s; `%[1]s: []` says that there are none", s.Key)
	case Mapping, Map, Tree:
		return "a mapping"
	case Text:
	}
	return "text"
}
