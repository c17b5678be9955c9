package wsrecord

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/workspace/internal/decode"
	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
	"github.com/anabranch/anabranch/schemas"
)

// Read decodes a record into the value that to points to, which has the shape s.
// unknown tells that it has members which this release does not know. The error holds
// no value: any of them may be a secret.
func Read(s *kind.Shape, text []byte, to any) (unknown bool, err error) {
	parsed, err := parse(text)
	if err == nil {
		err = schemas.CheckVersionOf(text, sealedVersion)
	}
	if err != nil {
		return false, err
	}
	dropVersion(parsed)
	d := decode.Decoder{Record: true}
	d.Decode(s, tree(parsed), to)
	if len(d.Found) > 0 {
		return false, problemError(&d.Found[0])
	}
	return d.Unknown, nil
}

// upper is the part of a path that is shown. Further down come names and values
// that people chose.
var upper = regexp.MustCompile(`^[^.[]+(\.[^.[]+|\[\d+\])?`)

func problemError(p *decode.Problem) error {
	if p.Path == "" {
		return errors.New("expected " + p.Want)
	}
	return fmt.Errorf("%s: expected %s", upper.FindString(p.Path), p.Want)
}

// parse reads JSON. Numbers stay as they were written.
func parse(text []byte) (parsed any, err error) {
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

// dropVersion takes out what is said of the record anew each time that it is written.
func dropVersion(parsed any) {
	if members, ok := parsed.(map[string]any); ok {
		delete(members, "version")
	}
}

// tree returns JSON as the decoder wants it. A member that is null is absent.
func tree(parsed any) *yaml.Node {
	scalar := func(tag, text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text} }
	switch v := parsed.(type) {
	case map[string]any:
		node := &yaml.Node{Kind: yaml.MappingNode}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key] != nil {
				node.Content = append(node.Content, scalar("!!str", key), tree(v[key]))
			}
		}
		return node
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode}
		for _, element := range v {
			node.Content = append(node.Content, tree(element))
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

// readInto is Read into a new value of the shape's type.
func readInto(s *kind.Shape, id string, text []byte) (v reflect.Value, unknown bool, err error) {
	to := reflect.New(s.Type)
	unknown, err = Read(s, text, to.Interface())
	to.Elem().FieldByName("ID").SetString(id)
	return to.Elem(), unknown, err
}
