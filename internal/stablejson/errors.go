package stablejson

import (
	"errors"
	"strconv"
)

// MaxDepth is how many arrays and objects may be open at once in a text.
// JSON.stringify overflows its stack at a few thousand levels; the cap keeps
// well below that on every engine (design: nesting is capped at ingest).
const MaxDepth = 512

// ErrTooDeep is wrapped by the SyntaxError of a text that nests deeper than
// MaxDepth.
var ErrTooDeep = errors.New("nested deeper than " + strconv.Itoa(MaxDepth) + " levels")

// SyntaxError says where a text stops being JSON. It never quotes the text,
// which may hold what must not be logged.
type SyntaxError struct {
	Offset  int    // bytes before the offending one
	Problem string // "expected ':' after object key"

	cause error
}

// Error has the form "offset 12: expected ':' after object key".
func (e *SyntaxError) Error() string {
	return "offset " + strconv.Itoa(e.Offset) + ": " + e.Problem
}

// Unwrap returns ErrTooDeep for a text that nests too deep, otherwise nil.
func (e *SyntaxError) Unwrap() error { return e.cause }
