package document

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxReported bounds the text of a [Error]: past it the cause is one and
// the same, and a terminal full of it hides the beginning.
const maxReported = 100

// Problem is one thing wrong with a workspace. It never holds a secret.
type Problem struct {
	Line  int    // of the file, from 1; 0 when the file as a whole is meant
	Path  string // "destinations[0].endpoints[1].url"; empty for the document
	Value string // what stands there, as far as it may be shown; may be empty
	Want  string // "an http or https URL with a host"
}

// Error lists everything wrong with a workspace file, by line.
type Error struct {
	File     string
	Problems []Problem
}

// Error returns a line for each problem, such as
//
//	workspace.yaml:12: destinations[0].endpoints[1].url: "ftp://x": expected an http or https URL with a host
func (e *Error) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i == maxReported {
			fmt.Fprintf(&b, "\n%s: and %d more", e.File, len(e.Problems)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.File)
		p.append(&b)
	}
	return b.String()
}

func (p Problem) append(b *strings.Builder) {
	if p.Line > 0 {
		b.WriteString(":" + strconv.Itoa(p.Line))
	}
	for _, part := range []string{p.Path, p.Value} {
		if part != "" {
			b.WriteString(": " + part)
		}
	}
	b.WriteString(": expected " + p.Want)
}

// Problems collects what is wrong while decoding goes on.
type Problems []Problem

// Add adds one.
func (p *Problems) Add(problem Problem) {
	*p = append(*p, problem)
}

// Err returns all problems in the order of their lines, nil when there are
// none. Keys are visited in the order of the declaration, wherever they stand. The
// YAML parser puts what is missing at the end on a line behind the last.
func (p *Problems) Err(file string, lastLine int) error {
	if len(*p) == 0 {
		return nil
	}
	for i := range *p {
		(*p)[i].Line = min((*p)[i].Line, lastLine)
	}
	slices.SortStableFunc(*p, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return &Error{File: file, Problems: *p}
}
