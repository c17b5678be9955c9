package stagefaults

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/report"
)

// KillArchive kills the stage that archives into a directory. Each event must be a line of
// one object, once; an object that is written again must have the same bytes; and an
// import must be able to read all of them.
func KillArchive(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate = 300
	kills := lab.Pick(l, 2, 50)
	if err := l.Open(ctx, 6); err != nil {
		return nil, err
	}
	a := newArchived(filepath.Join(l.Dir, "archive"))
	raw := l.Archive("kept", 101, a.dir)
	if err := l.Apply(ctx); err != nil {
		return nil, err
	}
	router, err := l.Launch(ctx, "router", 0)
	if err != nil {
		return nil, err
	}
	stage, err := l.Launch(ctx, "archive", 0)
	if err != nil {
		return nil, err
	}
	r := &report.Result{Faults: report.Faults{What: "kills", Claimed: kills}}
	l.Announce("kill -9 of the archive stage, %d times, each once it has stored an object", kills)
	err = l.Under(ctx, rate, []*load.Stream{raw}, func() error {
		for range kills {
			if killErr := a.kill(ctx, l, stage); killErr != nil {
				return killErr
			}
			r.Faults.Injected++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, a.finish(ctx, l, r, router, stage)
}

// storedWithin is when an object must be there: the group misses a killed member after the
// eight seconds of its session.
const storedWithin = time.Minute

// kill waits for a new object and kills the stage at the sight of it, when its commit may
// still be on its way, or some time later.
func (a *archived) kill(ctx context.Context, l *lab.Lab, stage *child.Process) error {
	begun := len(a.seen)
	err := child.Often(ctx, storedWithin, "an object to be stored", func() bool {
		names, listErr := a.names()
		return listErr == nil && len(names) > begun
	})
	if err == nil && l.Rand.IntN(2) == 0 {
		err = lab.Pause(ctx, time.Duration(l.Rand.Int64N(int64(2*time.Second))))
	}
	if err != nil {
		return err
	}
	return lab.InOrder(stage.Kill, a.look, stage.Start)
}

// finish waits until all is archived, and judges what is in the directory.
func (a *archived) finish(ctx context.Context, l *lab.Lab, r *report.Result, router, stage *child.Process) error {
	sent := l.Books.Tally(nil).Sent
	err := child.Until(ctx, storedWithin, "all events to be archived", func() bool {
		n, countErr := a.count()
		return countErr == nil && n >= sent
	})
	if err != nil {
		r.Note("%v", err)
	}
	l.Audit(ctx, r)
	l.Exit(r, router, stage)
	if err = a.look(); err != nil {
		return err
	}
	err = a.read(func(line []byte) error {
		s, stampErr := books.StampOf(line)
		if stampErr == nil {
			l.Books.Arrived(s, time.Now(), func(int) bool { return true })
		}
		return stampErr
	})
	if err != nil {
		return err
	}
	var plan struct{ Rows, Accepted, Refused int }
	if err = l.Ask(ctx, &plan, "import", "plan", filepath.Join(a.dir, lab.Source), "--json"); err != nil {
		return err
	}
	r.Tally = l.Books.Tally(nil)
	r.Note("%d objects, %d of them written again", len(a.seen), len(a.again))
	r.Require(len(a.changed) == 0, "%d objects were written again with other bytes: %v", len(a.changed), a.changed)
	r.Require(plan.Rows == sent && plan.Accepted == sent, "an import of the archive plans %+v, expected %d rows", plan, sent)
	r.Judge(report.Bounds{MinSent: 1})
	return nil
}

// archived is what a directory has been seen to hold.
type archived struct {
	dir     string
	seen    map[string]object
	again   map[string]bool // objects that were written more than once
	changed []string        // objects that had other bytes then
	lines   map[string]int  // of objects that were counted
}

func newArchived(dir string) *archived {
	return &archived{dir: dir, seen: make(map[string]object), again: make(map[string]bool), lines: make(map[string]int)}
}

type object struct {
	body []byte
	file os.FileInfo
}

// look compares what is there with what was there before, while nobody writes.
func (a *archived) look() error {
	names, err := a.names()
	for _, name := range names {
		var now object
		if err == nil {
			now.file, err = os.Stat(name)
		}
		before, met := a.seen[name]
		if err != nil || met && os.SameFile(before.file, now.file) {
			continue
		}
		if now.body, err = os.ReadFile(name); err != nil { //nolint:gosec // of the stage
			break
		}
		if met {
			a.again[name] = true
			if !bytes.Equal(before.body, now.body) {
				a.changed = append(a.changed, name)
			}
		}
		a.seen[name] = now
	}
	return err
}

// names are the paths of the objects.
func (a *archived) names() (all []string, err error) {
	err = filepath.WalkDir(filepath.Join(a.dir, lab.Source), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".ndjson.gz") && !strings.HasPrefix(entry.Name(), ".") {
			all = append(all, path)
		}
		return err
	})
	if os.IsNotExist(err) {
		return nil, nil // nothing was stored yet
	}
	return all, err
}

// read hands out the lines of all objects in the order of their partitions and offsets.
func (a *archived) read(each func(line []byte) error) error {
	names, err := a.names()
	for _, name := range names {
		if err == nil {
			err = lines(name, each)
		}
	}
	return err
}

// count counts the lines of all objects, each of which it reads once: it stays as long.
func (a *archived) count() (total int, err error) {
	names, err := a.names()
	for _, name := range names {
		if _, known := a.lines[name]; err == nil && !known {
			n := 0
			err = lines(name, func([]byte) error { n++; return nil })
			a.lines[name] = n
		}
		total += a.lines[name]
	}
	return total, err
}

func lines(name string, each func(line []byte) error) error {
	file, err := os.Open(name) //nolint:gosec // of the stage
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read
	text, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	scanner := bufio.NewScanner(text)
	for scanner.Scan() {
		if err = each(scanner.Bytes()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return scanner.Err()
}
