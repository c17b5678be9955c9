package redact

import (
	"strings"

	"github.com/anabranch/anabranch/internal/workspace"
)

// Field is one line of a head. Of the first, the request line or the status line, there is no
// name.
type Field struct {
	Name  string `json:"name,omitempty"`
	Value string `json:"value"`
}

// Line is the line itself.
func (f Field) Line() string {
	if f.Name == "" {
		return f.Value
	}
	return f.Name + ": " + f.Value
}

// Fields takes a head apart.
func Fields(head []byte) []Field {
	var all []Field
	for line := range strings.Lines(string(head)) {
		line = strings.TrimRight(line, "\r\n")
		name, value, named := strings.Cut(line, ":")
		switch {
		case line == "":
		case len(all) == 0, !named:
			all = append(all, Field{Value: line})
		default:
			all = append(all, Field{name, strings.TrimSpace(value)})
		}
	}
	return all
}

// Request returns the head of a request to an endpoint without its secrets: the query, and
// the values of the endpoint's own headers and of Authorization.
func Request(head []byte, e workspace.Endpoint) []Field {
	fields := Fields(head)
	for i := range fields {
		f := &fields[i]
		before, after, query := strings.Cut(f.Value, "?")
		_, version, _ := strings.Cut(after, " ")
		switch {
		case i == 0 && query:
			f.Value = before + "?" + Mark + " " + version
		case i > 0 && isSecret(f.Name, e):
			f.Value = Mark
		}
	}
	return fields
}

func isSecret(name string, e workspace.Endpoint) bool {
	if strings.EqualFold(name, "Authorization") {
		return true
	}
	for _, h := range e.Headers {
		if strings.EqualFold(h.Name, name) {
			return true
		}
	}
	return false
}
