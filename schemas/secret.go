package schemas

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
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

// sealedMark begins a secret that is sealed. No other can begin with it: secrets are
// UTF-8, and this is not.
const sealedMark = "\xff"

// SealedSecret returns a secret of which only the encrypted form is known: whoever has
// the key makes the text of it, and nobody else may use it for anything.
func SealedSecret(form string) Secret { return Secret(sealedMark + form) }

// Sealed returns the encrypted form of a secret that is sealed; false for any other.
func (s Secret) Sealed() (form string, ok bool) { return strings.CutPrefix(string(s), sealedMark) }

// Reveal returns the text itself, for the one place that needs it. Of a secret that is
// sealed it is not the text; see [Secret.Sealed].
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
