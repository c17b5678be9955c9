package plan

import (
	"bytes"

	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// MaxFindings is how many findings a call has at most. Whoever sends a thousand
// properties that are not planned is told of the first ones.
const MaxFindings = 10

// Check returns what a call violates, nil when it conforms: in the order of its
// members, and what is missing behind them, ascending.
//
// event is the name of a track call's event, a stable JSON string. value is the
// stable JSON object of the call's properties or, of identify and group calls,
// traits; nil when the call has none.
func (p *Plan) Check(call schemas.Type, event, value []byte) []decode.Finding {
	o, planned := p.object(call, event)
	switch {
	case !planned:
		return []decode.Finding{{Path: "event", Message: notPlanned}}
	case o == nil:
		return nil
	default:
		return o.check(value)
	}
}

func (o *object) check(value []byte) []decode.Finding {
	var found []decode.Finding
	missing := len(o.required)
	for m := membersOf(value); m.next(); {
		if isNull(m.value) {
			continue
		}
		planned, ok := o.properties[string(m.key)]
		if planned.place > 0 {
			missing--
		}
		switch {
		case len(found) == MaxFindings:
			return found
		case !ok && o.closed:
			found = append(found, o.finding(m.key, notPlanned))
		case ok && !matches(planned.kind, m.value):
			found = append(found, o.finding(m.key, mismatch(m.value, planned.kind)))
		}
	}
	if missing > 0 {
		found = o.addMissing(found, value)
	}
	return found
}

// addMissing adds what is required and not there. It goes through value once
// more: with a look for each name a long plan and a long call would take the
// product of both.
func (o *object) addMissing(found []decode.Finding, value []byte) []decode.Finding {
	present := make([]bool, 1+len(o.required)) // by place
	for m := membersOf(value); m.next(); {
		if !isNull(m.value) {
			present[o.properties[string(m.key)].place] = true
		}
	}
	for i, name := range o.required {
		if len(found) == MaxFindings {
			break
		}
		if !present[i+1] {
			found = append(found, o.finding([]byte(name), absent(o.properties[name].kind)))
		}
	}
	return found
}

// isNull reports whether a value counts as absent.
func isNull(value []byte) bool { return value[0] == 'n' }

// matches reports whether a stable value is of a type.
func matches(kind workspace.PropertyType, value []byte) bool {
	switch kind {
	case workspace.StringType:
		return value[0] == '"'
	case workspace.NumberType:
		return stablejson.KindOf(value) == stablejson.KindNumber
	case workspace.IntegerType:
		return stablejson.KindOf(value) == stablejson.KindNumber && isWhole(value)
	case workspace.BooleanType:
		return value[0] == 't' || value[0] == 'f'
	case workspace.ObjectType:
		return value[0] == '{'
	case workspace.ArrayType:
		return value[0] == '['
	default:
		return true
	}
}

// isWhole reports whether a stable number is a whole one. Those from 1e21 on,
// which alone have a positive exponent, all are.
func isWhole(number []byte) bool {
	return bytes.IndexByte(number, '+') >= 0 || bytes.IndexByte(number, '.') < 0 && bytes.IndexByte(number, 'e') < 0
}
