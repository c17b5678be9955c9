package wsfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
)

func TestDocumentsThatAreNone(t *testing.T) {
	t.Parallel()
	const (
		empty = "1: an empty file: expected " + wantDocument
		goods = "sources: []\ndestinations: []\n"
	)
	tests := map[string]struct{ text, want string }{
		"empty":               {"", empty},
		"white space":         {"\n \n", empty},
		"comments":            {"# sources: []\n# destinations: []\n", empty},
		"begun":               {"---\n", "2: nothing: expected " + wantDocument},
		"a list":              {"- sources\n", "1: a list: expected " + wantDocument},
		"text":                {"sources\n", "1: text: expected " + wantDocument},
		"two documents":       {goods + "---\n" + goods, "4: a second document: expected one document"},
		"a broken second":     {goods + "---\n{", "4: not YAML (did not find expected node content): expected " + wantDocument},
		"scanner error":       {"sources: []\n\ndestinations: a: b\n", "3: not YAML (mapping values are not allowed in this context): expected " + wantDocument},
		"scanner error first": {"sources: a: b\n", "1: not YAML (mapping values are not allowed in this context): expected " + wantDocument},
		"parser error":        {"sources:\n  - id: x\n   name: y\n", "2: not YAML (did not find expected '-' indicator): expected " + wantDocument},
		"a tab":               {"sources:\n\t- id: x\n", "2: not YAML (found character that cannot start any token): expected " + wantDocument},
		"a starred secret":    {"sources: []\ndestinations:\n  - sharedSecret: *" + wstest.Canary + "\n", "3: an alias: expected a value; text that begins with * needs quotes"},
		"NUL":                 {"sources: []\n\x00", "2: the byte 0x00: expected printable UTF-8 text"},
		"Latin-1":             {"sources: []\ndestinations: []\n# caf\xe9\n", "3: the byte 0xe9: expected printable UTF-8 text"},
		"binary":              {"\x1f\x8b\x08", "1: the byte 0x1f: expected printable UTF-8 text"},
		"too large":           {strings.Repeat("#", MaxBytes+1), " 1048577 bytes: expected at most 1048576"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff([]string{tt.want}, problemsOf(t, tt.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("internal error (please report)") }

func TestDocumentsThatUpsetTheParser(t *testing.T) {
	t.Parallel()
	root, err := nextDocument(yaml.NewDecoder(panicking{}))
	if root != nil || err == nil {
		t.Fatalf("%v, %v", root, err)
	}
	want := Problem{Line: 1, Value: "not YAML (the parser gave up)", Want: wantDocument}
	if diff := cmp.Diff(want, syntaxProblem(nil, err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDocumentsWithAByteOrderMark(t *testing.T) {
	t.Parallel()
	wstest.Equal(t, parse(t, "\ufeff"+crm), parse(t, crm))
}

func TestDocumentsWithWindowsLineEnds(t *testing.T) {
	t.Parallel()
	wstest.Equal(t, parse(t, strings.ReplaceAll(crm, "\n", "\r\n")), parse(t, crm))
}
