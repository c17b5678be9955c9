package console

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/test/testkit"
)

// pausing is a console whose pauses are in force at once.
func pausing(t *testing.T, log *testkit.Logs) *Console {
	t.Helper()
	return newConsole(t, func(set *Settings) {
		behindProxy(set)
		set.Logger = slog.New(slog.NewTextHandler(log, nil))
		put := func(pauses map[string]workspace.Pause) {
			doc := workspace.Document{Pauses: pauses}
			for _, d := range set.Workspace.Load().Destinations() {
				doc.Destinations = append(doc.Destinations, *d)
			}
			set.Workspace.Store(doc.Snapshot())
		}
		set.Questions.Pause = func(_ context.Context, id, by string) error {
			if _, known := set.Workspace.Load().Destination(id); !known {
				return fmt.Errorf("destination %s: %w: the workspace has none of that id", id, wstopic.ErrPause)
			}
			put(map[string]workspace.Pause{id: {By: by, Since: noon}})
			return nil
		}
		set.Questions.Resume = func(context.Context, string) error { put(nil); return nil }
	})
}

// seen is a page as a person sees it whom a proxy names.
func seen(t *testing.T, c *Console, target string) string {
	t.Helper()
	r := named(t, strings.TrimPrefix(target, Path), "")
	r.Method = http.MethodGet
	w := serve(c, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%s was answered %d: %s", target, w.Code, w.Body)
	}
	return w.Body.String()
}

// TestPauseAndResume: the page says by whom, and the log too.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	var log testkit.Logs
	c := pausing(t, &log)
	const pause, resume = `action="/console/destination/pause"`, `action="/console/destination/resume"`
	if page := seen(t, c, destinationPath("crm")); !strings.Contains(page, pause) || strings.Contains(page, resume) {
		t.Errorf("before a pause the page is\n%s", page)
	}
	w := serve(c, named(t, "/destination/pause", "id=crm"))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != destinationPath("crm") {
		t.Fatalf("the pause was answered %d, to %s", w.Code, w.Header().Get("Location"))
	}
	page := seen(t, c, destinationPath("crm"))
	if !strings.Contains(page, "since 2026-11-21 12:00:00Z by ada") || !strings.Contains(page, resume) || strings.Contains(page, pause) {
		t.Errorf("in a pause the page is\n%s", page)
	}
	if page = look(t, c, destinationPath("crm")); strings.Contains(page, resume) || !strings.Contains(page, "by ada") {
		t.Errorf("to who has no name the page is\n%s", page)
	}
	if w = serve(c, named(t, "/destination/resume", "id=crm")); w.Code != http.StatusSeeOther {
		t.Fatalf("the end of the pause was answered %d", w.Code)
	}
	if page = seen(t, c, destinationPath("crm")); !strings.Contains(page, pause) || strings.Contains(page, "by ada") {
		t.Errorf("after a pause the page is\n%s", page)
	}
	for _, line := range []string{`what="pause of deliveries to crm" person=ada`, `what="resumption of deliveries to crm" person=ada`} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("the log has no %s:\n%s", line, &log)
		}
	}
}

func TestWhatCannotBePaused(t *testing.T) {
	t.Parallel()
	var log testkit.Logs
	c := pausing(t, &log)
	w := serve(c, named(t, "/destination/pause", "id=nobody"))
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "none of that id") {
		t.Errorf("it was answered %d: %s", w.Code, w.Body)
	}
	if log.String() != "" {
		t.Errorf("the log says %s", &log)
	}
}
