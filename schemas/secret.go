package schemas

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted stands in for a secret wherever one would be printed.
const redacted = "[redacted]"

// Secret is text that must not be seen: a shared secret, a password, the value
// of a static header. Printing, logging and encoding it give "[redacted]", an
// empty one too; only [Secret.Reveal] gives the text.
//
// Two places defeat it. An unexported field of a struct: fmt can't call its
// methods and prints the text. And the key of a map: encoding/json writes keys
// of string kind as they are.
type Secret string

// Reveal returns the text itself, for the one place that needs it.
func (s Secret) Reveal() string { return string(s) }

// String returns "[redacted]".
func (Secret) String() string { return redacted }

// GoString returns "[redacted]".
func (Secret) GoString() string { return redacted }

// Format prints "[redacted]" for every verb. String and GoString are not enough:
// a verb that does not suit strings, such as %d, prints the operand past both.
func (Secret) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) } //nolint:errcheck // fmt.State never fails

// MarshalJSON returns the JSON string "[redacted]".
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText returns [redacted]: what encoders other than JSON's ask for.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue returns "[redacted]".
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
