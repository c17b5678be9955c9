package wswatch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace/wsfile"
)

// TestScoutDigestsWhatItParsed changes a secret between parsing and the digest
// of a later look: the finding must not carry the digest of what it did not use.
func TestScoutDigestsWhatItParsed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "workspace.yaml")
	if err := os.WriteFile(path, []byte("sources: [{id: a, writeKey: {file: key}}]\ndestinations: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys := []string{"one", "two", "two"} // as read one after the other
	s := &scout{file: path, lookup: wsfile.Lookup{File: func(name string) ([]byte, error) {
		if name == path {
			return os.ReadFile(path)
		}
		key := keys[0]
		keys = keys[1:]
		return []byte(key), nil
	}}}
	first := s.look()
	if _, ok := first.snapshot.SourceByKey("one"); !ok {
		t.Fatal("the first look did not read the first key")
	}
	second := s.look() // its digest reads the second key, and so does its parsing
	if _, ok := second.snapshot.SourceByKey("two"); !ok || second.digest == first.digest {
		t.Error("the second look found what the first had found")
	}
}

func TestScoutParsesChangesAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "workspace.yaml")
	if err := os.WriteFile(path, []byte(file("a")), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &scout{file: path, lookup: wsfile.SystemLookup()}
	if first := s.look(); first.err != nil || s.look().snapshot != first.snapshot {
		t.Errorf("parsed again, or not at all: %v", first.err)
	}
}

func TestDigestsTellContentsApart(t *testing.T) {
	t.Parallel()
	of := func(contents ...string) digest {
		s := newSummer()
		for _, c := range contents {
			s.add([]byte(c), nil)
		}
		return s.digest()
	}
	failed := newSummer()
	failed.add(nil, os.ErrNotExist)
	all := map[digest]string{
		of():                       "nothing",
		of(""):                     "one empty file",
		of("ab", "c"):              "ab c",
		of("a", "bc"):              "a bc",
		of("abc"):                  "abc",
		of(os.ErrNotExist.Error()): "the text of an error",
		failed.digest():            "an error",
	}
	if len(all) != 7 {
		t.Errorf("some are the same: %v", all)
	}
}
