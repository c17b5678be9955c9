package terminal

import (
	"encoding/json"
	"io"
)

// JSON prints a value as one object, indented, and URLs as they are: people read it
// too, on terminals.
func JSON(w io.Writer, value any) error {
	out := json.NewEncoder(Printable(w))
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(value)
}
