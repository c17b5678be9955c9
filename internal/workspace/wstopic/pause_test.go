package wstopic

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

var night = time.Date(2026, 11, 21, 3, 12, 0, 0, time.UTC)

// TestAPauseOutlivesApply: no file says anything of it, so none ends it, and it is gone with
// its destination alone.
func TestAPauseOutlivesApply(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	p.Keys = ring(t, 1)
	apply(t, p, wstest.Of("a", "b"))
	if _, err := p.Pause(timeout(t), "a", "ada", night); err != nil {
		t.Fatal(err)
	}
	if again, err := p.Pause(timeout(t), "a", "bob", night.Add(time.Hour)); err != nil || again.By != "ada" || !again.Since.Equal(night) {
		t.Errorf("paused a second time: %v, %v", again, err)
	}
	c.ReadAll(t, schemas.TopicWorkspace, 5) // a source, two destinations, the mark, the pause

	if changes := apply(t, p, wstest.Of("a", "b")); len(changes) != 0 {
		t.Errorf("the same workspace changes %v", changes)
	}
	apply(t, p, wstest.Of("a", "b", "c"))
	s := p.Keys.Open(read(t, c).Snapshot)
	if got, paused := s.Paused("a"); !paused || got.String() != "since 2026-11-21 03:12:00Z by ada" {
		t.Errorf("after an apply it is paused %v: %t", got, paused)
	}
	if diff := cmp.Diff([]string{"a"}, s.PausedIDs()); diff != "" {
		t.Errorf("paused (-want +got):\n%s", diff)
	}

	apply(t, p, wstest.Of("b"))
	apply(t, p, wstest.Of("a", "b"))
	if ids := read(t, c).Snapshot.PausedIDs(); len(ids) != 0 {
		t.Errorf("%v are paused, though they were removed", ids)
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	apply(t, p, wstest.Of("a"))
	if _, was, err := p.Resume(timeout(t), "a"); err != nil || was {
		t.Errorf("what was not paused was resumed: %t, %v", was, err)
	}
	if _, err := p.Pause(timeout(t), "a", "", night); err != nil {
		t.Fatal(err)
	}
	if ended, was, err := p.Resume(timeout(t), "a"); err != nil || !was || !ended.Since.Equal(night) {
		t.Errorf("%v, %t, %v", ended, was, err)
	}
	if ids := read(t, c).Snapshot.PausedIDs(); len(ids) != 0 {
		t.Errorf("%v are paused", ids)
	}
}

func TestWhatCannotBePaused(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	apply(t, p, wstest.CRM())
	for id, want := range map[string]string{"nobody": "none of that id", "warehouse": "its type is topic", "glacier": "its type is archive"} {
		_, err := p.Pause(timeout(t), id, "ada", night)
		if !errors.Is(err, ErrPause) || !strings.Contains(err.Error(), want) {
			t.Errorf("pause %s: %v, expected %q", id, err, want)
		}
		if _, _, err = p.Resume(timeout(t), id); !errors.Is(err, ErrPause) {
			t.Errorf("resume %s: %v", id, err)
		}
	}
}

// TestADestinationThatIsATopicSince has no pause, and none when it has webhooks again.
func TestADestinationThatIsATopicSince(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	apply(t, p, wstest.Of("a"))
	if _, err := p.Pause(timeout(t), "a", "ada", night); err != nil {
		t.Fatal(err)
	}
	topic := workspace.NewSnapshot(wstest.Of().Sources(), []workspace.Destination{{ID: "a", Type: workspace.TypeTopic, Name: "a", Enabled: true}})
	apply(t, p, topic)
	apply(t, p, wstest.Of("a"))
	if ids := read(t, c).Snapshot.PausedIDs(); len(ids) != 0 {
		t.Errorf("%v are paused", ids)
	}
}

// TestAPauseThatCannotBeRead leaves in force what was.
func TestAPauseThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	apply(t, p, wstest.Of("a"))
	if _, err := p.Pause(timeout(t), "a", "ada", night); err != nil {
		t.Fatal(err)
	}
	write(t, c, record("pause/a", `{"version":2,"until":"noon"}`), record("pause/a", `{"since":7}`), record("pause/A", `{}`))
	if ids := read(t, c).Snapshot.PausedIDs(); len(ids) != 1 {
		t.Errorf("%v are paused", ids)
	}
	write(t, c, record("pause/b", `{"since":"2026-11-21T03:12:00Z"}`)) // of a destination that is not there
	if ids := read(t, c).Snapshot.PausedIDs(); len(ids) != 1 {
		t.Errorf("%v are paused", ids)
	}
}
