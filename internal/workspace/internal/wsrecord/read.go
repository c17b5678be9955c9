package wsrecord

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"

	"github.com/anabranch/anabranch/internal/document"
	"github.com/anabranch/anabranch/internal/workspace/internal/decode"
	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
	"github.com/anabranch/anabranch/schemas"
)

// Read decodes a record into the value that to points to, which has the shape s.
// unknown tells that it has members which this release does not know. The error holds
// no value: any of them may be a secret.
func Read(s *kind.Shape, text []byte, to any) (unknown bool, err error) {
	parsed, err := document.ParseJSON(text)
	if err == nil {
		err = schemas.CheckVersionOf(text, sealedVersion)
	}
	if err != nil {
		return false, err
	}
	dropVersion(parsed)
	if s.Form == kind.Tree {
		return false, kind.Owner(reflect.ValueOf(to).Elem()).ReadRecord(text)
	}
	if ofLaterType(s, parsed) {
		return false, ErrType
	}
	d := decode.Decoder{Record: true}
	d.Decode(s, document.Tree(parsed), to)
	if len(d.Found) > 0 {
		return false, problemError(&d.Found[0])
	}
	return d.Unknown, nil
}

// upper is the part of a path that is shown. Further down come names and values
// that people chose.
var upper = regexp.MustCompile(`^[^.[]+(\.[^.[]+|\[\d+\])?`)

func problemError(p *document.Problem) error {
	if p.Path == "" {
		return errors.New("expected " + p.Want)
	}
	return fmt.Errorf("%s: expected %s", upper.FindString(p.Path), p.Want)
}

// dropVersion takes out what is said of the record anew each time that it is written.
func dropVersion(parsed any) {
	if members, ok := parsed.(map[string]any); ok {
		delete(members, "version")
	}
}

// ofLaterType tells whether the field that decides about others has a word that is not known.
func ofLaterType(s *kind.Shape, parsed any) bool {
	owner := s.Decides()
	members, isObject := parsed.(map[string]any)
	if owner == nil || !isObject {
		return false
	}
	word, isText := members[owner.Record].(string)
	return isText && !slices.Contains(owner.Rule.Words, word)
}

// readInto is Read into a new value of the shape's type.
func readInto(s *kind.Shape, id string, text []byte) (v reflect.Value, unknown bool, err error) {
	to := reflect.New(s.Type)
	unknown, err = Read(s, text, to.Interface())
	if own := to.Elem().FieldByName("ID"); own.IsValid() {
		own.SetString(id)
	}
	return to.Elem(), unknown, err
}
