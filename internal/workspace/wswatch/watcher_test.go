package wswatch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// watched is a watcher of a file in a folder of its own, in virtual time.
type watched struct {
	*Watcher
	tb  testing.TB
	dir string
	out *testkit.Logs

	mu      sync.Mutex
	refusal error // of the next applies
	applied [][]string
}

func watching(tb testing.TB) *watched {
	tb.Helper()
	w := &watched{tb: tb, dir: tb.TempDir(), out: new(testkit.Logs)}
	w.Watcher = New(Settings{
		Logger: w.out.Logger(), Registerer: prometheus.NewRegistry(),
		File: filepath.Join(w.dir, "workspace.yaml"), Lookup: wsfile.SystemLookup(),
		Apply: func(_ context.Context, next *workspace.Snapshot) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.refusal == nil {
				w.applied = append(w.applied, wstest.IDs(next))
			}
			return w.refusal
		},
	})
	return w
}

func (w *watched) run() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	w.tb.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.tb.Errorf("Run: %v", err)
		}
	})
	synctest.Wait()
}

// after lets time pass that is no multiple of a look's.
func (w *watched) after(d time.Duration) *watched {
	virtual.Sleep(d)
	synctest.Wait()
	return w
}

func (w *watched) write(name, text string) {
	w.tb.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.tb.Fatal(err)
	}
}

func (w *watched) refuse(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refusal = err
}

// want checks what was applied, each as the ids of its destinations.
func (w *watched) want(applied ...string) {
	w.tb.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var got []string
	for _, ids := range w.applied {
		got = append(got, strings.Join(ids, " "))
	}
	if !slices.Equal(got, applied) {
		w.tb.Errorf("applied %q, want %q\n%s", got, applied, w.out)
	}
}

func (w *watched) logged(text string, want int) {
	w.tb.Helper()
	if n := w.out.Count(text); n != want {
		w.tb.Errorf("%q was logged %d times, want %d:\n%s", text, n, want, w.out)
	}
}

// file returns a workspace file with destinations.
func file(ids ...string) string {
	text := "sources: []\ndestinations: []\n"
	for i, id := range ids {
		if i == 0 {
			text = "sources: []\ndestinations:\n"
		}
		text += "  - {id: " + id + ", type: webhooks, sources: [], endpoints: [{url: 'https://" + id + ".example.com'}]}\n"
	}
	return text
}

const half = 500 * time.Millisecond

func TestWatcherAppliesChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watching(t)
		w.write("workspace.yaml", file("a"))
		w.run()
		w.after(half).want() // one look is not enough
		w.after(watchEvery).want("a")
		w.after(time.Minute).want("a")
		w.write("workspace.yaml", file("a", "b"))
		w.after(2*watchEvery).want("a", "a b")
		w.write("workspace.yaml", file())
		w.after(2*watchEvery).want("a", "a b", "")
		if n := testutil.ToFloat64(w.metrics.applied); n != 3 {
			t.Errorf("counted %v", n)
		}
	})
}

// TestWatcherWaitsUntilWritingEnds writes a file bit by bit, and each bit ends
// where what is there is a whole workspace.
func TestWatcherWaitsUntilWritingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watching(t)
		w.write("workspace.yaml", file("a", "b", "c"))
		w.run()
		w.after(half + watchEvery).want("a b c")
		for _, ids := range [][]string{{}, {"a"}, {"a", "b"}, {"a", "b", "c", "d"}} {
			w.write("workspace.yaml", file(ids...))
			w.after(watchEvery).want("a b c")
		}
		w.after(watchEvery).want("a b c", "a b c d")
	})
}

func TestWatcherLeavesWhatRunsAlone(t *testing.T) {
	tests := map[string]struct {
		spoil  func(w *watched)
		logged string
	}{
		"empty":          {func(w *watched) { w.write("workspace.yaml", "") }, "an empty file"},
		"half-written":   {func(w *watched) { w.write("workspace.yaml", file("a", "b")[:40]) }, "workspace file refused"},
		"without a part": {func(w *watched) { w.write("workspace.yaml", "sources: []\n") }, "destinations: missing"},
		"deleted":        {func(w *watched) { _ = os.Remove(w.set.File) }, "no such file"},
		"a folder": {func(w *watched) {
			_ = os.Remove(w.set.File)
			_ = os.Mkdir(w.set.File, 0o700)
		}, "is a directory"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watching(t)
				w.write("workspace.yaml", file("a"))
				w.run()
				w.after(half + watchEvery)
				tt.spoil(w)
				w.after(time.Hour).want("a")
				w.logged(tt.logged, 1)
				w.logged("level=ERROR", 1)

				_ = os.RemoveAll(w.set.File)
				w.write("workspace.yaml", file("a")) // as it was: nothing to do
				w.after(2 * watchEvery).want("a")
				w.write("workspace.yaml", file("b"))
				w.after(2*watchEvery).want("a", "b")
				if n := testutil.ToFloat64(w.metrics.refused); n != 1 {
					t.Errorf("counted %v", n)
				}
			})
		})
	}
}

func TestWatcherLogsEachProblemOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watching(t)
		w.run()
		w.after(half+watchEvery).logged("no such file", 1)
		w.write("workspace.yaml", "colour: red")
		w.after(time.Minute).logged("unknown key", 1)
		w.write("workspace.yaml", "colour: blue") // another file, the same problem
		w.after(time.Minute).logged("unknown key", 1)
		w.write("workspace.yaml", "shape: round")
		w.after(time.Minute).logged("shape: unknown key", 1)
		w.write("workspace.yaml", file("a"))
		w.after(time.Minute).want("a")
		w.write("workspace.yaml", "shape: round") // news again
		w.after(time.Minute).logged("shape: unknown key", 2)
	})
}

func TestWatcherAppliesAgainAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watching(t)
		w.refuse(errors.New("the broker is gone"))
		w.write("workspace.yaml", file("a"))
		w.run()
		w.after(half + 5*watchEvery).want()
		w.logged("the broker is gone", 1)
		w.after(time.Minute).want()
		w.logged("the broker is gone", 1+6) // a reminder each ten seconds
		w.refuse(nil)
		w.after(watchEvery).want("a")
		w.after(time.Minute).want("a")
	})
}

func TestWatcherSeesSecretFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const text = `sources: [{id: website, writeKey: {file: key}}]
destinations: []
`
		w := watching(t)
		var keys []bool
		w.set.Apply = func(_ context.Context, next *workspace.Snapshot) error {
			_, ok := next.SourceByKey(wstest.Canary)
			keys = append(keys, ok)
			return nil
		}
		w.write("workspace.yaml", text)
		w.run()
		w.after(half+watchEvery).logged("expected a readable file (no such file or directory)", 1)
		w.write("key", "another")
		w.after(2 * watchEvery)
		w.write("key", wstest.Canary+"\n")
		w.after(2 * watchEvery)
		w.write("key", "") // being written
		w.after(time.Minute)
		if !slices.Equal(keys, []bool{false, true}) {
			t.Errorf("applied %v", keys)
		}
		if strings.Contains(w.out.String(), wstest.Canary) {
			t.Errorf("a secret is logged:\n%s", w.out)
		}
	})
}

// TestWatcherSeesSwappedLinks changes the file as Kubernetes does: the path
// leads over a link to a folder, and the link is replaced.
func TestWatcherSeesSwappedLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watching(t)
		link := func(version string) {
			if err := os.Symlink(version, filepath.Join(w.dir, "new")); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(w.dir, "new"), filepath.Join(w.dir, "data")); err != nil {
				t.Fatal(err)
			}
		}
		for version, text := range map[string]string{"v1": file("a"), "v2": file("b")} {
			if err := os.Mkdir(filepath.Join(w.dir, version), 0o700); err != nil {
				t.Fatal(err)
			}
			w.write(version+"/workspace.yaml", text)
		}
		link("v1")
		if err := os.Symlink("data/workspace.yaml", w.set.File); err != nil {
			t.Fatal(err)
		}
		w.run()
		w.after(half + watchEvery).want("a")
		link("v2")
		w.after(2*watchEvery).want("a", "b")
	})
}

func TestWatcherSaysNothingWhenStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watching(t)
		w.set.Apply = func(ctx context.Context, _ *workspace.Snapshot) error {
			<-ctx.Done()
			return ctx.Err()
		}
		w.write("workspace.yaml", file("a"))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		w.after(time.Minute)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		w.logged("level=ERROR", 0)
	})
}

func TestWatcherName(t *testing.T) {
	t.Parallel()
	if got := new(Watcher).Name(); got != "workspace-file" {
		t.Errorf("%q", got)
	}
}
