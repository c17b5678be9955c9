package imports

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestAnImport of calls of all kinds: what is in the log, what was refused, and that it is
// done once.
func TestAnImport(t *testing.T) {
	t.Parallel()
	y := newYard(t, testkit.Brokers(t))
	name := file(t, "calls.ndjson", `{"type":"track","userId":"u","event":"A","timestamp":"2019-03-02T10:00:00Z"}
{"type":"track","userId":"u"}

{"type":"identify","userId":"v","messageId":"m"}
not JSON
{"type":"track","userId":"gone","event":"B"}
`)
	y.terms.Suppressed = func(id []byte) bool { return string(id) == "gone" }
	set := y.settings(name)
	out := y.start(set)
	for _, want := range []string{"imported 3 of 5 rows of ", "2 refused: ", "1 of suppressed users", "1 without a time"} {
		if !strings.Contains(out, want) {
			t.Errorf("printed %q, want %q", out, want)
		}
	}
	y.expectEvents()
	expectRejects(t, name)
	y.again(set)
}

// expectEvents of TestAnImport.
func (y *yard) expectEvents() {
	t := y.t
	t.Helper()
	got := make(map[string]schemas.Headers)
	for _, r := range y.cluster.ReadAll(t, schemas.TopicRawEvents, 2) {
		h := headersOf(t, r)
		var e struct {
			MessageID  string `json:"messageId"`
			ReceivedAt string `json:"receivedAt"`
		}
		if err := json.Unmarshal(r.Value, &e); err != nil || e.MessageID != h.MessageID || e.ReceivedAt != h.Received.Format(schemas.TimeLayout) {
			t.Errorf("%s, %v, headers %+v", r.Value, err, h)
		}
		h.Received = time.Time{}
		got[string(r.Key)] = h
	}
	var first schemas.Headers
	first, got["u"] = got["u"], schemas.Headers{}
	if !strings.HasPrefix(first.MessageID, "import-") || !strings.HasSuffix(first.MessageID, "-1") || !first.Happened.Equal(time.Date(2019, 3, 2, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("the first event has %+v", first)
	}
	want := map[string]schemas.Headers{"u": {}, "v": {Source: "website", Type: schemas.TypeIdentify, MessageID: "m", Origin: schemas.OriginAPI}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func expectRejects(t *testing.T, name string) {
	t.Helper()
	rejected, err := os.ReadFile(name + ".rejected.ndjson")
	const wantRejected = `{"row":2,"line":2,"reason":"event_not_defined: `
	if lines := strings.Split(string(rejected), "\n"); err != nil || len(lines) != 3 || !strings.HasPrefix(lines[0], wantRejected) ||
		!strings.HasPrefix(lines[1], `{"row":4,"line":5,"reason":"invalid_json: `) || !strings.HasSuffix(lines[1], `"text":"not JSON"}`) {
		t.Errorf("%v, rejected:\n%s", err, rejected)
	}
}

// again imports what TestAnImport has imported, and is refused, unless it says so.
func (y *yard) again(set Settings) {
	t := y.t
	t.Helper()
	if err := Start(t.Context(), set); err == nil || !strings.Contains(err.Error(), "5 rows, 2 refused; --again imports it once more") {
		t.Errorf("a second time: %v", err)
	}
	set.Again, set.Strict, set.JSON = true, true, true
	y.out.Reset()
	if err := Start(t.Context(), set); !errors.Is(err, errRefused) {
		t.Errorf("strictly: %v", err)
	}
	var printed result
	if err := json.Unmarshal(y.out.Bytes(), &printed); err != nil || printed.Rows != 5 || printed.Accepted != 3 || !printed.Done || printed.Rejects == "" {
		t.Errorf("%v, printed %s", err, y.out.String())
	}
	y.cluster.ReadAll(t, schemas.TopicRawEvents, 4)
}

// TestDeliver: whom an import is for stands in its records.
func TestDeliver(t *testing.T) {
	t.Parallel()
	y := newYard(t, testkit.Brokers(t))
	set := y.settings(file(t, "a.ndjson", `{"type":"page","userId":"u"}`))
	for _, c := range []struct{ deliver, err string }{
		{"mail", "the destination mail does not receive calls of the source website"},
		{"crm,lake", `the workspace has no destination "lake"`},
		{"none", ""},
		{"crm", ""},
	} {
		set.Deliver, set.Again = c.deliver, true
		err := Start(t.Context(), set)
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("--deliver=%s: %v, want %s", c.deliver, err, c.err)
		}
	}
	got := make(map[string]bool)
	for _, r := range y.cluster.ReadAll(t, schemas.TopicRawEvents, 2) {
		h := headersOf(t, r)
		got[strings.Join(h.Only, ",")] = h.Only != nil && h.Version == 2
	}
	if diff := cmp.Diff(map[string]bool{"": true, "crm": true}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatCannotBeImported(t *testing.T) {
	t.Parallel()
	y := newYard(t, testkit.Fake(t))
	y.terms.Workspace = workspace.NewSnapshot([]workspace.Source{
		{ID: "app", Enabled: true, WriteKeyHash: workspace.HashWriteKey("a")}, {ID: "off", WriteKeyHash: workspace.HashWriteKey("o")},
	}, nil)
	name := file(t, "a.ndjson", "{}")
	for source, want := range map[string]string{
		"": "--source: expected one of the sources of the workspace: app, off", "off": "switched off", "gone": "no such source", "personas": "computed, not imported",
	} {
		set := y.settings(name)
		set.Source = source
		if err := Start(t.Context(), set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--source=%s: %v, want %s", source, err, want)
		}
	}
	if err := Start(t.Context(), y.settings(Stdin)); !errors.Is(err, errNoStdin) {
		t.Error(err)
	}
}

// TestAFileThatGrows while it is imported is told.
func TestAFileThatGrows(t *testing.T) {
	t.Parallel()
	y := newYard(t, testkit.Fake(t))
	name := file(t, "a.ndjson", `{"type":"page","userId":"u"}`+"\n")
	r := y.hurried(t.Context(), y.settings(name))
	if err := r.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer r.writer.Close()
	if err := os.WriteFile(name, []byte(strings.Repeat(`{"type":"page","userId":"u"}`+"\n", 2)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.find(t.Context()); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.rejects, err = rejectsOf(name, 0); err != nil {
		t.Fatal(err)
	}
	if err := r.transfer(t.Context()); !errors.Is(err, errChanged) {
		t.Errorf("imported: %v", err)
	}
}

// TestNothingOfACutFile: a file that ends too early is found before anything is written, also
// behind one that is whole. Whole again, it is another import.
func TestNothingOfACutFile(t *testing.T) {
	t.Parallel()
	y := newYard(t, testkit.Brokers(t))
	y.cluster.CreateTopics(t, 1, schemas.TopicRawEvents)
	dir := t.TempDir()
	text, _ := numbered(2_000)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(text))
	err = errors.Join(err, z.Close(),
		os.WriteFile(filepath.Join(dir, "1.ndjson"), []byte(text), 0o600),
		os.WriteFile(filepath.Join(dir, "2.ndjson.gz"), packed.Bytes()[:packed.Len()-100], 0o600))
	if err != nil {
		t.Fatal(err)
	}
	err = Start(t.Context(), y.settings(dir))
	if err == nil || !strings.Contains(err.Error(), "2.ndjson.gz: the file can't be read to its end: line ") || !strings.HasSuffix(err.Error(), "unexpected EOF") {
		t.Errorf("%v, expected the file and how far it could be read", err)
	}
	y.cluster.ReadAll(t, schemas.TopicRawEvents, 0)
}

// TestSuppressedOnTheWay: users who are suppressed while an import runs are left out from
// then on.
func TestSuppressedOnTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, testkit.Virtual(t))
		const n = 400
		set := y.settings(file(t, "a.ndjson", strings.Repeat(`{"type":"page","userId":"u"}`+"\n", n)))
		set.Rate = 2 // 200 seconds
		began := time.Now()
		y.terms.Suppressed = func([]byte) bool { return time.Since(began) > 90*time.Second }
		suppressed := y.terms.Suppressed
		set.Load = func(context.Context) (Terms, error) {
			now := suppressed(nil)
			y.terms.Suppressed = func([]byte) bool { return now }
			return y.terms, nil
		}
		out := y.start(set)
		if took := time.Since(began); took < 198*time.Second || took > 205*time.Second {
			t.Errorf("%d rows at 2/s took %s", n, took)
		}
		if !strings.Contains(out, "of suppressed users") {
			t.Errorf("printed %s", out)
		}
		if text := y.err.String(); strings.Count(text, "rows/s") != 3 || !strings.Contains(text, "imported 121 rows, 2 rows/s, 0 refused, 2m18s left\n") {
			t.Errorf("progress %q", text)
		}
	})
}

// TestAnImportWaitsForTheRouter where too much that is not routed keeps others from writing.
func TestAnImportWaitsForTheRouter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, testkit.Virtual(t))
		set := y.settings(file(t, "a.ndjson", `{"type":"page","userId":"u"}`))
		began, asked := time.Now(), 0
		set.Waiting = func(context.Context) (int64, error) {
			if asked++; time.Since(began) < 20*time.Second {
				return mostWaiting, nil
			}
			return mostWaiting - 1, nil
		}
		y.start(set)
		if took := time.Since(began); took < 20*time.Second || asked != 21 {
			t.Errorf("it waited %s and asked %d times", took, asked)
		}
	})
}

// TestArchivesInDirectories name the file of a refused row.
func TestArchivesInDirectories(t *testing.T) {
	t.Parallel()
	y := newYard(t, testkit.Fake(t))
	dir := filepath.Join(t.TempDir(), "bucket")
	for _, name := range []string{"1585008000000/b.gz", "1584921600000/a.gz"} {
		name = filepath.Join(dir, "segment-logs", "abc", name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		text := `{"type":"page","userId":"` + filepath.Base(name) + `","version":2,"_metadata":{"bundled":[]},"projectId":"p","sentAt":"2020-03-24T00:00:00Z","timestamp":"2020-03-23T00:00:00Z"}` + "\n{}\n"
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := y.start(y.settings(dir + "/")); !strings.Contains(out, "imported 2 of 4 rows") {
		t.Error(out)
	}
	for _, r := range y.cluster.ReadAll(t, schemas.TopicRawEvents, 2) {
		if text := string(r.Value); strings.Contains(text, "projectId") || strings.Contains(text, "_metadata") || strings.Contains(text, "version") || !strings.Contains(text, `"timestamp":"2020-03-23T00:00:00.000Z"`) {
			t.Error(text)
		}
	}
	rejected, err := os.ReadFile(dir + ".rejected.ndjson")
	if want := `{"row":2,"file":"segment-logs/abc/1584921600000/a.gz","line":2,`; err != nil || !strings.HasPrefix(string(rejected), want) {
		t.Errorf("%v, %s", err, rejected)
	}
}
