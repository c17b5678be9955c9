package encode

import (
	"errors"
	"maps"
	"slices"
	"time"
)

// TimeFormat is how times are written that are the client's own.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// MaxDepth is how deeply a value may nest. The collection API refuses a body
// with more than 512 levels (protocol, 7), of which the batch needs some.
const MaxDepth = 500

// Errors of a value that is given up on.
var (
	ErrTooLarge = errors.New("grows beyond the limit of a message")
	ErrTooDeep  = errors.New("is nested too deeply, or contains itself")
)

// Error says which member of the object could not be written, as in
// "properties.items[3].price".
type Error struct {
	Path string
	Err  error
}

// Error returns the path and the cause.
func (e *Error) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Writer writes one JSON object at a time and keeps its buffers for the next.
// It is not safe for concurrent use.
type Writer struct {
	buf   []byte
	limit int
	keys  []string // of the maps under way, innermost last
	err   error    // the first one; nothing is written after it
}

// Start begins an object that is given up when it has more than limit bytes.
func (w *Writer) Start(limit int) {
	w.buf, w.limit, w.err = append(w.buf[:0], '{'), limit, nil
}

// Finish ends the object and returns its bytes, which are valid until the next
// Start. The error is an [*Error] or [ErrTooLarge].
func (w *Writer) Finish() ([]byte, error) {
	w.buf = append(w.buf, '}')
	if w.err == nil && len(w.buf) > w.limit {
		w.err = ErrTooLarge
	}
	return w.buf, w.err
}

// Size is how many bytes the writer holds on to between objects.
func (w *Writer) Size() int { return cap(w.buf) + 16*cap(w.keys) }

// Text writes a member unless its value is empty.
func (w *Writer) Text(name, value string) {
	if value != "" && w.err == nil {
		w.name(name)
		w.fail(name, w.text(value, 0))
	}
}

// room is how many bytes are left.
func (w *Writer) room() int { return w.limit - len(w.buf) }

// Time writes a member with a time in UTC, to the millisecond.
func (w *Writer) Time(name string, t time.Time) {
	if w.err == nil {
		w.name(name)
		w.buf = append(t.UTC().AppendFormat(append(w.buf, '"'), TimeFormat), '"')
	}
}

// Map writes a member with the keys of both maps, unless both are empty. Where
// both have a key, the first one's value stands.
func (w *Writer) Map(name string, m, more map[string]any) {
	if len(m) == 0 {
		m, more = more, nil
	}
	if len(m) == 0 || w.err != nil {
		return
	}
	if len(more) > 0 {
		if max(len(m), len(more)) > w.room() { // not even put together
			w.err = ErrTooLarge
			return
		}
		more = maps.Clone(more)
		maps.Copy(more, m)
		m = more
	}
	w.name(name)
	w.fail(name, w.object(m, 0))
}

func (w *Writer) name(name string) {
	if len(w.buf) > 1 {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(appendString(w.buf, name), ':')
}

// fail keeps an error, unless it is the size of the whole that is too much: then
// no member of it is to blame.
func (w *Writer) fail(name string, err error) {
	switch {
	case err == nil:
	case errors.Is(err, ErrTooLarge):
		w.err = ErrTooLarge
	default:
		w.err = within(name, err)
	}
}

// within puts a member's name before the path of an error.
func within(name string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return &Error{Path: name, Err: err}
	}
	if e.Path != "" && e.Path[0] != '[' {
		name += "."
	}
	e.Path = name + e.Path
	return e
}

// object writes a map with its keys sorted, as encoding/json does: equal calls
// are equal bytes.
func (w *Writer) object(m map[string]any, depth int) error {
	if len(m) > w.room() { // its keys are not even listed
		return ErrTooLarge
	}
	first := len(w.keys)
	for key := range m {
		w.keys = append(w.keys, key)
	}
	keys := w.keys[first:]
	slices.Sort(keys)
	w.buf = append(w.buf, '{')
	var err error
	for i, key := range keys {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		if err = w.text(key, 0); err != nil {
			break
		}
		w.buf = append(w.buf, ':')
		if err = w.value(m[key], depth+1); err != nil {
			err = within(key, err)
			break
		}
	}
	w.buf = append(w.buf, '}')
	clear(keys) // the caller's strings are not kept
	w.keys = w.keys[:first]
	return err
}
