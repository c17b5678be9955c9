package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// faulty is a file system in which what a condition picks fails, once it is switched on.
func faulty(files vfs.FS, broken *atomic.Bool, err error, picked func(op errorfs.Op) bool) vfs.FS {
	return errorfs.Wrap(files, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if broken.Load() && picked(op) {
			return err
		}
		return nil
	}))
}

func writesTables(op errorfs.Op) bool {
	return strings.HasSuffix(op.Path, ".sst") && (op.Kind == errorfs.OpFileWrite || op.Kind == errorfs.OpCreate)
}

func syncsManifest(op errorfs.Op) bool {
	return strings.Contains(op.Path, "MANIFEST") && (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData)
}

// said collects log lines.
type said struct{ strings.Builder }

func (s *said) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// numbered writes batches of 64 KB, the number of each being its checkpoint and its record, until one fails.
func numbered(t *testing.T, s Store, from, n int) (written int, err error) {
	t.Helper()
	ballast := make([]byte, 64<<10)
	for i := from; i < from+n; i++ {
		var b Batch
		b.Put(1, []byte("number"), fmt.Append(nil, i))
		b.Put(1, fmt.Append(nil, "ballast", i%300), ballast)
		b.SetCheckpoint(1, fmt.Append(nil, i))
		if err := s.Apply(&b); err != nil {
			return i, err
		}
	}
	return from + n, nil
}

// TestADiskThatFailsIsNoSecret breaks the writing of tables, then that of the manifest, which pebble takes for the end of the
// process. Writing ends with the disk's error, and does not wait for ever; so does all else. Closing says it once more and
// ends. What is found later is a state at its checkpoint.
func TestADiskThatFailsIsNoSecret(t *testing.T) {
	for name, picked := range map[string]func(errorfs.Op) bool{"tables": writesTables, "manifest": syncsManifest} {
		t.Run(name, func(t *testing.T) {
			files := vfs.NewMem()
			var broken atomic.Bool
			var log said
			s, err := Open(Options{Dir: "store", Memory: MinMemory, Log: log.logger(), fs: faulty(files, &broken, syscall.ENOSPC, picked)})
			if err != nil {
				t.Fatal(err)
			}
			before, err := numbered(t, s, 0, 200)
			if err != nil {
				t.Fatal(err)
			}
			if err = s.(*disk).db.Flush(); err != nil {
				t.Fatal(err)
			}
			broken.Store(true)
			after, err := numbered(t, s, before, 100_000)
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("after %d batches: %v", after, err)
			}
			_, _, getErr := s.Get(1, []byte("number"))
			for _, err := range []error{getErr, s.Wipe(1), s.Close()} {
				if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "store") {
					t.Errorf("the error is %v", err)
				}
			}
			if n := strings.Count(log.String(), "level=ERROR"); n == 0 || n > 3 {
				t.Errorf("the log has %d errors:\n%s", n, log.String())
			}
			s = opened(t, files)
			defer func() { _ = s.Close() }()
			checkpoint, ok, err := s.Checkpoint(1)
			number, _, _ := s.Get(1, []byte("number"))
			if err != nil || !ok || string(number) != string(checkpoint) {
				t.Errorf("the store is at %q with the checkpoint %q, %v", number, checkpoint, err)
			}
			if _, err := numbered(t, s, 0, 200); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestADiskThatIsFullAtOnce(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	_, err := Open(Options{
		Dir: "store", Memory: MinMemory, Log: slog.New(slog.DiscardHandler),
		fs: faulty(vfs.NewMem(), &broken, syscall.ENOSPC, func(op errorfs.Op) bool {
			return op.Kind.ReadOrWrite() == errorfs.OpIsWrite && op.Kind != errorfs.OpMkdirAll
		}),
	})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the error is %v", err)
	}
}

func TestDamagedFilesAreAnError(t *testing.T) {
	dir := t.TempDir()
	options := Options{Dir: dir, Memory: MinMemory, Log: slog.New(slog.DiscardHandler)}
	s, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = numbered(t, s, 0, 200); err != nil {
		t.Fatal(err)
	}
	if err = s.Close(); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	for _, table := range tables {
		damage(t, table)
	}
	if s, err = Open(options); err == nil {
		_, err = numbered(t, s, 0, 1)
		err = errors.Join(err, s.Scan(1, nil, func(_, _ []byte) bool { return true }))
		_ = s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("damaged tables are read: %v", err)
	}

	manifests, err := filepath.Glob(filepath.Join(dir, "MANIFEST*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, manifest := range manifests {
		damage(t, manifest)
	}
	if _, err = Open(options); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a damaged manifest is read: %v", err)
	}
}

// damage turns the bits of the first half of a file.
func damage(t *testing.T, name string) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range content[:len(content)/2] {
		content[i] ^= 0xff
	}
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestADirectoryIsOneStoresAndItsOwners(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "store")
	options := Options{Dir: dir, Memory: MinMemory, Log: slog.New(slog.DiscardHandler)}
	s, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Open(options); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "no other process") {
		t.Errorf("a directory that is in use: %v", err)
	}
	if _, err = numbered(t, s, 0, 100); err != nil {
		t.Fatal(err)
	}
	if err = s.Close(); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOptionsThatAreWrong(t *testing.T) {
	options := Options{Dir: t.TempDir(), Memory: MinMemory - 1, Log: slog.New(slog.DiscardHandler)}
	if _, err := Open(options); err == nil || !strings.Contains(err.Error(), "16777215") {
		t.Errorf("too little memory: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	options = Options{Dir: file, Memory: MinMemory, Log: slog.New(slog.DiscardHandler)}
	if _, err := Open(options); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file for a directory: %v", err)
	}
}

func TestTheFormatIsPinned(t *testing.T) {
	files := vfs.NewMem()
	for range 2 {
		s := opened(t, files)
		if got := s.(*disk).db.FormatMajorVersion(); got != 21 {
			t.Errorf("the files are of version %d, want 21", got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadingBeginsAtWhatIsLeft holds that what has fired is not passed again.
func TestReadingBeginsAtWhatIsLeft(t *testing.T) {
	s := opened(t, vfs.NewMem())
	defer func() { _ = s.Close() }()
	d := s.(*disk)
	timer := Timer{noon, []byte("ann")}
	later := Timer{noon.Add(1), []byte("bob")}
	apply(t, s, func(b *Batch) { b.SetTimer(1, timer.User, timer.Due); b.SetTimer(1, later.User, later.Due) })
	starts := func(want []byte) {
		t.Helper()
		if _, err := s.Due(1, Timer{}, noon, 1); err != nil {
			t.Fatal(err)
		}
		same(t, d.low[1], want)
	}
	starts(timerKey(1, timer))
	apply(t, s, func(b *Batch) { b.DeleteTimer(1, timer.User, timer.Due) })
	starts(behind(appendInstant(appendPrefix(nil, timers, 1), noon)))
	apply(t, s, func(b *Batch) { b.SetTimer(1, timer.User, timer.Due) })
	starts(timerKey(1, timer))
}

// TestWritingWaitsForFilesAndForNothingElse holds the disk up: writing waits, and reading does not. Closing ends the wait.
func TestWritingWaitsForFilesAndForNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held atomic.Bool
		resume := make(chan struct{})
		files := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if held.Load() && writesTables(op) {
				<-resume
			}
			return nil
		}))
		s := opened(t, files)
		before, err := numbered(t, s, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		held.Store(true)
		ended := make(chan error, 1)
		go func() {
			_, err := numbered(t, s, before, 100_000)
			ended <- err
		}()
		synctest.Wait()
		if stats := s.Stats(); stats.Stalls != 1 || stats.MemoryBytes > MinMemory {
			t.Errorf("a disk that does nothing: %+v", stats)
		}
		if _, ok, err := s.Get(1, []byte("number")); !ok || err != nil {
			t.Errorf("reading meanwhile: %v, %v", ok, err)
		}
		closed := make(chan error, 1)
		go func() { closed <- s.Close() }()
		if err := <-ended; !errors.Is(err, ErrClosed) {
			t.Errorf("writing while the store is closed: %v", err)
		}
		close(resume)
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}
