package wsfile

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/anabranch/anabranch/internal/document"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/decode"
	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
)

// Problem is one thing wrong with a workspace file. It never holds a secret.
type Problem = document.Problem

// Error lists everything wrong with a workspace file, by line.
type Error = document.Error

// Load reads a workspace file, through lookup as the secret files that it
// names, and parses it. See [Parse] for its errors; a file that can't be read
// is the error of lookup.
func Load(file string, lookup Lookup) (*workspace.Snapshot, error) {
	text, err := lookup.File(file)
	if err != nil {
		return nil, fmt.Errorf("read workspace: %w", err)
	}
	return Parse(file, text, lookup)
}

// Parse reads the YAML text of a workspace file. The file's name is used in
// errors and as the base of relative paths in it. The error is a [*Error]
// that lists all problems.
//
// All sections have to be there, and every destination needs its list of
// sources: a file that was cut short must not look like one that says less.
// Aliases are refused, since with them a small file can stand for a huge one.
func Parse(file string, text []byte, lookup Lookup) (*workspace.Snapshot, error) {
	var doc workspace.Document
	if err := read(file, text, lookup, workspace.Declaration(), &doc); err != nil {
		return nil, err
	}
	return doc.Snapshot(), nil
}

// read reads a text of the shape s into the value that to points to.
func read(file string, text []byte, lookup Lookup, s *kind.Shape, to any) error {
	d := decode.Decoder{Lookup: lookup.references(filepath.Dir(file))}
	if root := rootOf(text, &d.Found); root != nil {
		d.Decode(s, root, to)
	}
	return d.Found.Err(file, lineAt(text, len(text)))
}

// references resolves paths from a folder. One line end is the editor's that wrote
// the file.
func (l Lookup) references(folder string) decode.References {
	return decode.References{Env: l.Env, Refused: l.Refused, File: func(path string) (string, error) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		content, err := l.File(path)
		return strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r"), err
	}}
}
