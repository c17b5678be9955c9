package imports

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/schematest"
	"github.com/anabranch/anabranch/test/testkit"
)

// archived writes events as objects of an archive, ten to each, and returns the directory of
// their source.
func archived(t *testing.T, events [][]byte) string {
	t.Helper()
	dir, from := t.TempDir(), int64(0)
	for n := range slices.Chunk(events, 10) {
		var body bytes.Buffer
		zip := gzip.NewWriter(&body)
		_, _ = zip.Write(append(bytes.Join(n, []byte("\n")), '\n'))
		if err := zip.Close(); err != nil {
			t.Fatal(err)
		}
		name := schemas.ArchivedName{Source: "website", Day: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC), From: from, To: from + 20}
		from = name.To
		path := filepath.Join(dir, name.String())
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, body.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "website")
}

// TestAnArchiveComesBack: whatever was accepted, archived and imported again is the same event
// byte by byte, of the same user.
func TestAnArchiveComesBack(t *testing.T) {
	t.Parallel()
	y := newYard(t, testkit.Brokers(t))
	g := schematest.New(11)
	var calls strings.Builder
	for range 600 {
		fmt.Fprintf(&calls, "%s\n", bytes.ReplaceAll(g.Call(g.Type(), true), []byte("\n"), []byte(" ")))
	}
	first := y.counted(file(t, "calls.ndjson", calls.String()))
	before := y.cluster.ReadAll(t, schemas.TopicRawEvents, int(first.Accepted))
	if len(before) < 100 {
		t.Fatalf("%d of the calls are accepted", len(before))
	}
	events := make([][]byte, len(before))
	for i, r := range before {
		events[i] = r.Value
	}
	if again := y.counted(archived(t, events)); again.Refused != 0 || again.Accepted != first.Accepted {
		t.Errorf("of %d events %d came back, and %d were refused", first.Accepted, again.Accepted, again.Refused)
	}
	times := make(map[string]int)
	for _, r := range y.cluster.ReadAll(t, schemas.TopicRawEvents, 2*len(before)) {
		times[string(r.Key)+" "+string(r.Value)]++
	}
	for event, n := range times {
		if n%2 != 0 {
			t.Errorf("%d times: %s", n, event)
		}
	}
}

// counted imports a file and returns what was counted.
func (y *yard) counted(name string) (counts Counts) {
	y.t.Helper()
	set := y.settings(name)
	set.JSON = true
	if err := json.Unmarshal([]byte(y.start(set)), &counts); err != nil {
		y.t.Fatal(err)
	}
	return counts
}
