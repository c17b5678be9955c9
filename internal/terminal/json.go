package terminal

import (
	"encoding/json"
	"io"
)

// JSON prints a value as one object, indented, and URLs as they are: people read it
// too.
func JSON(w io.Writer, value any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(value)
}
