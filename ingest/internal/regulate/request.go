package regulate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/stablejson"
)

// subjectTypeUser is the one type of subject there is.
const subjectTypeUser = "USER_ID"

// request is what somebody asks for.
type request struct {
	kind  regulation.Type
	users []string // without repetitions, in the order given
}

// problem is one thing that is wrong with a request. It quotes no user id.
type problem struct {
	Type    string `json:"type"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

const (
	typeBadRequest = "bad-request"
	typeValidation = "validation-error"
)

// maxProblems bounds an answer: of a list of numbers each would be one.
const maxProblems = 20

// parser reads one body.
type parser struct {
	reader   stablejson.Reader
	request  request
	problems []problem

	given map[string]bool // members of the body
	seen  map[string]bool // user ids
}

// parse reads a body and returns all that is wrong with it, or nothing. Members
// that are not known are refused: whoever sends one means that less or other than
// all of this be done.
func parse(body []byte) (request, []problem) {
	p := parser{given: make(map[string]bool), seen: make(map[string]bool)}
	p.reader.Reset(body)
	err := p.reader.Members(p.member)
	if err == nil {
		err = p.reader.End()
	}
	if syntax, ok := errors.AsType[*stablejson.SyntaxError](err); ok {
		return request{}, []problem{{Type: typeBadRequest, Message: "the body is not one JSON object: " + syntax.Error()}}
	}
	for _, key := range []string{"regulationType", "subjectType", "subjectIds"} {
		if !p.given[key] {
			p.object(key, "is missing")
		}
	}
	if len(p.problems) > 0 {
		return request{}, p.problems
	}
	return p.request, nil
}

// member reads one member. Its error is of the syntax; all else is a problem.
func (p *parser) member(key []byte) error {
	name := string(key)
	repeated := p.given[name]
	p.given[name] = true
	switch {
	case name != "regulationType" && name != "subjectType" && name != "subjectIds":
		p.object(fmt.Sprintf("%.64q", name), "is not a member of a regulation")
		return p.reader.Skip()
	case repeated:
		p.object(name, "is given twice")
		return p.reader.Skip()
	case name == "subjectIds":
		return p.subjects()
	}
	value, err := p.reader.Append(nil)
	if err != nil {
		return err
	}
	text, _ := stablejson.Text(value)
	p.word(name, text)
	return nil
}

func (p *parser) word(name, text string) {
	switch {
	case name == "subjectType" && text != subjectTypeUser:
		p.object(name, "expected "+subjectTypeUser)
	case name == "regulationType" && !slices.Contains(regulation.Types(), regulation.Type(text)):
		p.object(name, fmt.Sprintf("expected one of %v", regulation.Types()))
	case name == "regulationType":
		p.request.kind = regulation.Type(text)
	}
}

// subjects reads the list of user ids. Ids come out of the same reader as those
// of calls, so one that is written in another way is the same user.
func (p *parser) subjects() error {
	const name = "subjectIds"
	if p.reader.Kind() != stablejson.KindArray {
		p.object(name, "expected a list of user ids")
		return p.reader.Skip()
	}
	n := 0
	var scratch []byte
	err := p.reader.Elements(func() (err error) {
		if scratch, err = p.reader.Append(scratch[:0]); err == nil {
			p.subject(fmt.Sprintf("%s[%d]", name, n), scratch)
			n++
		}
		return err
	})
	switch {
	case err != nil:
	case n == 0:
		p.object(name, "expected at least one user id")
	case n > regulation.MaxSubjects:
		p.object(name, fmt.Sprintf("expected at most %d user ids, found %d", regulation.MaxSubjects, n))
	}
	return err
}

func (p *parser) subject(place string, value []byte) {
	id, ok := stablejson.Text(value)
	switch {
	case !ok:
		p.object(place, "expected a string")
	case id == "":
		p.object(place, "expected a user id, found an empty one")
	case len(id) > regulation.MaxSubjectBytes:
		p.object(place, fmt.Sprintf("expected at most %d bytes", regulation.MaxSubjectBytes))
	case !p.seen[id]:
		p.seen[id] = true
		p.request.users = append(p.request.users, id)
	}
}

// object notes a problem, unless there are many already.
func (p *parser) object(field, message string) {
	if len(p.problems) < maxProblems {
		p.problems = append(p.problems, problem{Type: typeValidation, Field: field, Message: message})
	}
}
