package seen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
)

// generationSize is how many fingerprints are gathered in memory before a run is made
// of them.
const generationSize = 1 << 16

// generation is what was added last, of one bucket. It becomes a run.
type generation struct {
	extent
	table

	// unwritten are the chunks that its log lacks.
	unwritten []chunk

	// Of the worker.
	log    *file
	logged int64 // bytes of the log that are whole

	lost atomic.Bool // the log could not be written, and is of no more use
}

// grow adds what follows the generation.
func (g *generation) grow(to int64, fps []Fingerprint) {
	n := len(g.entries)
	for _, fp := range fps {
		g.add(fp)
	}
	g.unwritten = append(g.unwritten, chunk{g.to, to, g.entries[n:len(g.entries):len(g.entries)]})
	g.to = to
}

// write appends chunks to the log in a directory.
func (g *generation) write(dir string, of Identity, chunks []chunk) error {
	if len(chunks) == 0 || g.lost.Load() {
		return nil
	}
	var b []byte
	if g.log == nil {
		name := filepath.Join(dir, fmt.Sprintf("%020d%s", g.from, logSuffix))
		f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600) //nolint:gosec // in the operator's directory
		if err != nil {
			g.lost.Store(true)
			return err
		}
		g.log, b = &file{File: f, name: name}, logHeader(of, extent{from: g.from, bucket: g.bucket, after: g.after})
	}
	for _, c := range chunks {
		b = c.append(b)
	}
	n, err := g.log.WriteAt(b, g.logged)
	g.logged += int64(n)
	g.lost.Store(err != nil)
	return err
}

// openLog reads the log of a generation, and cuts off what is damaged of it. An error that
// comes with a generation says what that was.
func openLog(name string) (of Identity, g *generation, err error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0) //nolint:gosec // in the operator's directory
	if err != nil {
		return of, nil, err
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return of, nil, errors.Join(err, f.Close())
	}
	of, g, whole, err := parseLog(b)
	if g == nil {
		return of, nil, errors.Join(err, f.Close())
	}
	g.log, g.logged = &file{File: f, name: name}, int64(whole)
	if err != nil {
		err = errors.Join(err, f.Truncate(int64(whole)))
	}
	return of, g, err
}
