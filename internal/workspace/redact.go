package workspace

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/anabranch/anabranch/internal/workspace/internal/rules"
)

// SafeURL returns the URL without user information and query: what logs,
// errors and people's screens may show.
func (e Endpoint) SafeURL() string { return rules.SafeURL(e.URL) }

// String describes the endpoint without secrets.
func (e Endpoint) String() string {
	if len(e.Headers) == 0 {
		return e.SafeURL()
	}
	names := make([]string, len(e.Headers))
	for i, h := range e.Headers {
		names[i] = h.Name
	}
	return e.SafeURL() + " [" + strings.Join(names, " ") + "]"
}

// Format writes [Endpoint.String] for every verb. Were there only a String
// method, %#v and %d would print the fields.
func (e Endpoint) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte(e.String()))
}

// MarshalJSON writes [Endpoint.String] as a JSON string.
func (e Endpoint) MarshalJSON() ([]byte, error) {
	return json.Marshal(e.String())
}

// LogValue logs [Endpoint.String].
func (e Endpoint) LogValue() slog.Value {
	return slog.StringValue(e.String())
}

// Format writes "destination" and the id for every verb. A verb that suits no
// pointer, such as %s, would print what it points to past all methods.
func (d *Destination) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "destination %s", d.ID)
}

// String describes the snapshot by its size.
func (s *Snapshot) String() string {
	size := count(len(s.sources), "source") + ", " + count(len(s.destinations), "destination")
	if len(s.audiences) > 0 {
		size += ", " + count(len(s.audiences), "audience")
	}
	if len(s.traits) > 0 {
		size += ", " + count(len(s.traits), "trait")
	}
	return size
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// Format writes [Snapshot.String] for every verb: fmt reaches unexported
// fields without calling the methods of what they hold, so it would print the
// secrets in them.
func (s *Snapshot) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte(s.String()))
}

// LogValue logs [Snapshot.String].
func (s *Snapshot) LogValue() slog.Value {
	return slog.StringValue(s.String())
}
