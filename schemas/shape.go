package schemas

// Shape is the JSON type of a value, as far as validation cares. The zero value
// is ShapeAbsent.
type Shape uint8

// The shapes of a value.
const (
	ShapeAbsent Shape = iota // the key is not there
	ShapeNull
	ShapeBool
	ShapeNumber
	ShapeString
	ShapeArray
	ShapeObject
)

// String returns the shape as messages name it: "an array".
func (s Shape) String() string {
	switch s {
	case ShapeAbsent:
		return "nothing"
	case ShapeNull:
		return "null"
	case ShapeBool:
		return "a boolean"
	case ShapeNumber:
		return "a number"
	case ShapeString:
		return "a string"
	case ShapeArray:
		return "an array"
	case ShapeObject:
		return "an object"
	default:
		return "an unknown shape"
	}
}

// given tells whether there is a value: SDKs send null for what was left out.
func (s Shape) given() bool { return s != ShapeAbsent && s != ShapeNull }
