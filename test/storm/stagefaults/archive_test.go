package stagefaults

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/anabranch/anabranch/test/storm/lab"
)

// TestLook tells an object that is written again from one that stays, and sees other bytes.
func TestLook(t *testing.T) {
	t.Parallel()
	a := newArchived(t.TempDir())
	if err := a.look(); err != nil || len(a.seen) > 0 {
		t.Fatalf("nothing was stored: %v, %v", a.seen, err)
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(a.dir, lab.Source, "2026-11-23", name)
		var body bytes.Buffer
		packed := gzip.NewWriter(&body)
		_, _ = packed.Write([]byte(text))
		_ = packed.Close()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+".new", body.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil { // as the stage does
			t.Fatal(err)
		}
	}
	look := func() {
		t.Helper()
		if err := a.look(); err != nil {
			t.Fatal(err)
		}
	}
	write("0-0-2.ndjson.gz", "a\nb\n")
	write("0-2-3.ndjson.gz", "c\n")
	write(".0-3-4.ndjson.gz.1", "half")
	look()
	look()
	if n, err := a.count(); len(a.seen) != 2 || len(a.again)+len(a.changed) > 0 || n != 3 || err != nil {
		t.Fatalf("%d objects, again %v, changed %v, %d lines, %v", len(a.seen), a.again, a.changed, n, err)
	}
	write("0-0-2.ndjson.gz", "a\nb\n")
	look()
	if len(a.again) != 1 || len(a.changed) > 0 {
		t.Errorf("the same again: again %v, changed %v", a.again, a.changed)
	}
	write("0-2-3.ndjson.gz", "d\n")
	look()
	if len(a.again) != 2 || len(a.changed) != 1 {
		t.Errorf("another one: again %v, changed %v", a.again, a.changed)
	}
}
