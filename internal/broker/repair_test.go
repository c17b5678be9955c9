package broker

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// shorten cuts bytes off the end of a file, as a write that was cut short leaves it.
func shorten(t *testing.T, path string, by int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-by); err != nil {
		t.Fatal(err)
	}
}

func TestTornRecordBatchIsCutOff(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "events", 1)
	produce(t, client(t, b), "events", "one", "two", "torn")

	image := killed(t, dir)
	shorten(t, filepath.Join(image, "broker", "partitions", "events-0", "0.dat"), 3)
	for range 2 { // what is appended behind a repaired tail must survive the next kill
		b = open(t, image)
		produce(t, client(t, b), "events", "after")
		image = killed(t, image)
	}
	b = open(t, image)
	produce(t, client(t, b), "events", "end")
	if diff := cmp.Diff([]string{"one", "two", "after", "after", "end"}, readUntil(t, b, "events", "end")); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestTornOffsetDoesNotHideLaterOnes(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "events", 1)
	commit(t, b, "events", 10)
	commit(t, b, "events", 20)

	image := killed(t, dir)
	shorten(t, filepath.Join(image, "broker", "groups.log"), 3)
	b = open(t, image)
	if got := committed(t, b, "events"); got != 10 {
		t.Errorf("offset after the torn one = %d, want the 10 before it", got)
	}
	commit(t, b, "events", 90)
	b = open(t, killed(t, image))
	if got := committed(t, b, "events"); got != 90 {
		t.Errorf("offset after the second kill = %d, want 90", got)
	}
}

// A batch of a transaction that was never committed, written without its index entry.
func TestBatchWithoutIndexEntryIsNotCommitted(t *testing.T) {
	for name, missing := range map[string]int64{"entry missing": indexEntry, "entry torn": 7, "both entries missing": 2 * indexEntry} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			b := open(t, dir)
			create(t, b, "events", 1)
			produce(t, client(t, b), "events", "one")
			transaction(t, b, "router-1", time.Minute, "open")

			image := killed(t, dir)
			shorten(t, filepath.Join(image, "broker", "partitions", "events-0", "0.idx"), missing)
			b = open(t, image)
			end(t, transaction(t, b, "router-2", time.Minute, "after"), kgo.TryCommit)
			if diff := cmp.Diff([]string{"one", "after"}, readUntil(t, b, "events", "after")); diff != "" {
				t.Errorf("committed records (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRepairLeavesASoundLogAlone(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "events", 1, "segment.bytes", "200")
	produce(t, client(t, b), "events", "one", "two", "three", "four")
	end(t, transaction(t, b, "router-1", time.Minute, "committed"), kgo.TryCommit)
	end(t, transaction(t, b, "router-2", time.Minute, "aborted"), kgo.TryAbort)
	commit(t, b, "events", 2)

	image := killed(t, dir)
	before := contents(t, image)
	if err := repair(filepath.Join(image, "broker"), quiet()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, contents(t, image)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

func TestRepairLeavesAnUnknownFormatAlone(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"meta.json": `{"version":2}`, "groups.log": "entries of the future"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := contents(t, dir)
	if err := repair(dir, quiet()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

// contents reads all files below a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
