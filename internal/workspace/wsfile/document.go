package wsfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/document"
)

// MaxBytes bounds a workspace file: hundreds of times a large one, and
// little enough to be read and hashed each second.
const MaxBytes = 1 << 20

const wantDocument = "the keys sources and destinations; `sources: []` says that there are none"

// rootOf reads the one YAML document of a file. Without a result it has
// reported why.
func rootOf(text []byte, found *document.Problems) *yaml.Node {
	if len(text) > MaxBytes {
		found.Add(Problem{Value: fmt.Sprintf("%d bytes", len(text)), Want: fmt.Sprintf("at most %d", MaxBytes)})
		return nil
	}
	if i := unprintable(text); i >= 0 {
		found.Add(Problem{Line: lineAt(text, i), Value: fmt.Sprintf("the byte 0x%02x", text[i]), Want: "printable UTF-8 text"})
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	root, err := nextDocument(decoder)
	switch {
	case errors.Is(err, io.EOF):
		found.Add(Problem{Line: 1, Value: "an empty file", Want: wantDocument})
		return nil
	case err != nil:
		found.Add(syntaxProblem(text, err))
		return nil
	}
	// Whatever follows is not nothing: half of a change, or a second opinion.
	switch second, err := nextDocument(decoder); {
	case err == nil:
		found.Add(Problem{Line: second.Line, Value: "a second document", Want: "one document"})
	case !errors.Is(err, io.EOF):
		found.Add(syntaxProblem(text, err))
	}
	return root
}

// nextDocument returns the content of the next document. The YAML parser
// panics on some malformed texts ("internal error … please report"); one typo in
// a file that is watched must not end the process.
func nextDocument(decoder *yaml.Decoder) (root *yaml.Node, err error) {
	defer func() {
		if recover() != nil {
			root, err = nil, errors.New("yaml: the parser gave up")
		}
	}()
	var doc yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		return nil, err
	}
	return doc.Content[0], nil
}

// unprintable returns the index of the first byte that YAML does not allow, -1
// without one. The YAML parser finds them too, but without the line.
func unprintable(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f {
			return i
		}
		i += size
	}
	return -1
}

func lineAt(text []byte, offset int) int {
	return 1 + bytes.Count(text[:offset], []byte{'\n'})
}

var (
	syntaxError   = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
	// The parser's own errors, unlike its scanner's, count lines from zero.
	countsFromZero = regexp.MustCompile(`^did not find expected (key|'-' indicator|',' or|node content|<)`)
)

// syntaxProblem turns an error of the YAML parser into a problem. Without a
// line of its own it is put on the first, where such errors come from.
func syntaxProblem(text []byte, err error) Problem {
	match := syntaxError.FindStringSubmatch(err.Error())
	if match == nil {
		return Problem{Line: 1, Value: "not YAML", Want: wantDocument}
	}
	line, message := max(1, atoi(match[1])), match[2]
	if anchor := unknownAnchor.FindStringSubmatch(message); anchor != nil {
		// The name is not shown: as a rule it is a secret that begins with an
		// asterisk and was not quoted.
		offset := strings.Index(string(text), "*"+anchor[1])
		return Problem{Line: lineAt(text, max(0, offset)), Value: "an alias", Want: "a value; text that begins with * needs quotes"}
	}
	if countsFromZero.MatchString(message) && match[1] != "" {
		line++
	}
	return Problem{Line: line, Value: "not YAML (" + message + ")", Want: wantDocument}
}

func atoi(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
