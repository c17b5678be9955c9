package plan

import (
	"strings"
	"unicode/utf8"

	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

const notPlanned = "not in the tracking plan"

// maxNameBytes is how much of a name a path shows.
const maxNameBytes = 64

// finding is about the property or trait under a key.
func (o *object) finding(key []byte, message string) decode.Finding {
	return decode.Finding{Path: o.prefix + shown(key), Message: message}
}

// shown returns the name that a stable key stands for, cut.
func shown(key []byte) string {
	quoted := append(append([]byte{'"'}, key...), '"')
	name, _ := stablejson.Text(quoted)
	if len(name) <= maxNameBytes {
		return name
	}
	end := maxNameBytes
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end] + "…"
}

// mismatch says that a value is of another type than the planned one.
func mismatch(value []byte, kind workspace.PropertyType) string {
	return "found " + kindOf(value, kind) + ", expected " + noun(kind)
}

// absent says that there is no value.
func absent(kind workspace.PropertyType) string {
	return "found nothing, expected " + noun(kind)
}

func noun(kind workspace.PropertyType) string {
	switch kind {
	case workspace.AnyType:
		return "a value"
	case workspace.IntegerType, workspace.ObjectType, workspace.ArrayType:
		return "an " + string(kind)
	default:
		return "a " + string(kind)
	}
}

// kindOf names the kind of a stable value that is not of the planned one.
func kindOf(value []byte, planned workspace.PropertyType) string {
	switch stablejson.KindOf(value) {
	case stablejson.KindString:
		return "a string"
	case stablejson.KindNumber:
		if planned == workspace.IntegerType {
			return "a number with a fraction"
		}
		return "a number"
	case stablejson.KindBool:
		return "a boolean"
	case stablejson.KindObject:
		return "an object"
	default:
		return "an array"
	}
}

// summary returns as many findings, one at least, as the headers of a dead letter
// have room for.
func summary(findings []decode.Finding) string {
	const others = "; and others"
	var b strings.Builder
	for i, f := range findings {
		next := f.Path + ": " + f.Message
		if i > 0 {
			next = "; " + next
		}
		room := schemas.MaxDetailBytes - b.Len()
		if last := i == len(findings)-1; !last {
			room -= len(others)
		}
		if i > 0 && len(next) > room {
			b.WriteString(others)
			break
		}
		b.WriteString(next)
	}
	return b.String()
}
