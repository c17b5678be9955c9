package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// KindOf names the kind of a node in the words of messages. A number or a truth value
// is text as well, exactly as written: nobody should have to quote a header's value 1.0
// to keep its zero.
func KindOf(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		return scalarKind(node.Tag)
	case yaml.AliasNode, yaml.DocumentNode:
	}
	return "an alias"
}

func scalarKind(tag string) string {
	switch tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp", "!!merge":
		return "text"
	case "!!null":
		return "nothing"
	default:
		return "a value tagged " + strconv.Quote(tag) // !vault and the like
	}
}

// Shown is what a message shows of a node: text in quotes, of which at most the
// beginning, and of all else the kind.
func Shown(node *yaml.Node) string {
	kind := KindOf(node)
	switch {
	case kind != "text":
		return kind
	case len(node.Value) > 100:
		return strconv.Quote(strings.ToValidUTF8(node.Value[:100], "")) + "…"
	default:
		return strconv.Quote(node.Value)
	}
}

// PlainKey tells whether a key looks like one of ours: letters, digits, hyphens and
// underscores, a letter first, at most 40.
func PlainKey(key string) bool {
	for i := range len(key) {
		c := key[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '_') {
			return false
		}
	}
	return key != "" && len(key) <= 40
}

// MemberPath is the path of a member as problems may show it.
// `{sharedSecret:s3cret}`, with the space forgotten, is a key too.
func MemberPath(path, key string) string {
	if !PlainKey(key) {
		key = "(key)"
	}
	return strings.TrimPrefix(path+"."+key, ".")
}

// NamePath is the path of a member under a name that people gave and that is no
// secret: `events["Order Completed"]`.
func NamePath(path, name string) string {
	if PlainKey(name) {
		return path + "." + name
	}
	const shown = 60
	if len(name) > shown {
		return path + "[" + strconv.Quote(strings.ToValidUTF8(name[:shown], "")) + "…]"
	}
	return path + "[" + strconv.Quote(name) + "]"
}

// ElementPath is the path of an element of a list.
func ElementPath(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// ParseJSON reads JSON. Numbers stay as they were written. Errors quote nothing of it.
func ParseJSON(text []byte) (parsed any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&parsed)
	// A decoder treats what follows the value as another one, and its errors quote the
	// record.
	if err == nil && decoder.InputOffset() == int64(len(text)) {
		return parsed, nil
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(text, new(json.RawMessage))); ok {
		return nil, fmt.Errorf("offset %d: not JSON", syntax.Offset)
	}
	return parsed, err
}

// Tree returns what [ParseJSON] returned as a tree of nodes, without lines. A member that
// is null is absent.
func Tree(parsed any) *yaml.Node {
	scalar := func(tag, text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text} }
	switch v := parsed.(type) {
	case map[string]any:
		node := &yaml.Node{Kind: yaml.MappingNode}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key] != nil {
				node.Content = append(node.Content, scalar("!!str", key), Tree(v[key]))
			}
		}
		return node
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode}
		for _, element := range v {
			node.Content = append(node.Content, Tree(element))
		}
		return node
	case string:
		return scalar("!!str", v)
	case json.Number:
		return scalar("!!int", v.String())
	case bool:
		return scalar("!!bool", strconv.FormatBool(v))
	default:
		return scalar("!!null", "")
	}
}
