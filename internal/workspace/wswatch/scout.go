package wswatch

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
)

// digest stands for all that a workspace file says: its content and that of
// the secret files it names.
type digest [sha256.Size]byte

// finding is what one look at the file found.
type finding struct {
	digest   digest
	snapshot *workspace.Snapshot
	err      error // why there is no snapshot
}

// scout looks at a workspace file. It reads all of it each time, as neither
// time stamps nor sizes tell every change, but parses it only when it changed.
type scout struct {
	file   string
	lookup wsfile.Lookup
	read   []string // the file and the secret files it names, in the order in which loading reads them
	last   finding
}

func (s *scout) look() finding {
	if s.digest() != s.last.digest {
		s.last = s.load()
	}
	return s.last
}

// digest returns that of the present contents if the file still names the same
// secret files. Otherwise its text has changed, and so has the digest.
func (s *scout) digest() digest {
	sum := newSummer()
	for _, path := range s.read {
		sum.add(s.lookup.File(path))
	}
	return sum.digest()
}

// load reads everything anew. The digest of its finding is that of the very
// bytes it used: taken separately, it could belong to a later content.
func (s *scout) load() finding {
	sum := newSummer()
	s.read = nil
	watched := wsfile.Lookup{
		Env: s.lookup.Env,
		File: func(path string) ([]byte, error) {
			s.read = append(s.read, path)
			content, err := s.lookup.File(path)
			sum.add(content, err)
			return content, err
		},
	}
	snapshot, err := wsfile.Load(s.file, watched)
	return finding{digest: sum.digest(), snapshot: snapshot, err: err}
}

// summer computes a digest of several contents.
type summer struct{ hash hash.Hash }

func newSummer() summer { return summer{sha256.New()} }

// add takes in one content, or why it could not be read. Its length goes first,
// or moving bytes from one file to the next would not show.
func (s summer) add(content []byte, err error) {
	tag := uint64(len(content)) << 1
	if err != nil {
		content = []byte(err.Error())
		tag = uint64(len(content))<<1 | 1
	}
	s.hash.Write(binary.BigEndian.AppendUint64(nil, tag))
	s.hash.Write(content)
}

func (s summer) digest() digest { return digest(s.hash.Sum(nil)) }
