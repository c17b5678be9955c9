package kafka

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestAdvisingAddsWhatToDo to the records that need it, and to no other.
func TestAdvisingAddsWhatToDo(t *testing.T) {
	t.Parallel()
	var out testkit.Logs
	log := slog.New(Advising(slog.NewTextHandler(&out, nil))).With("stage", "router").WithGroup("g")
	refused := fmt.Errorf("join: %w", kerr.GroupAuthorizationFailed)
	log.Warn("refused", "n", 1, "error", refused)
	log.Warn("away", "error", errors.New("connection refused"))
	log.Info("well")
	log.Error("ends", "error", Advised(kerr.SaslAuthenticationFailed))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range []bool{true, false, false, false} {
		if got := strings.Contains(lines[i], "advice="); got != want {
			t.Errorf("advice in %q: %v, want %v", lines[i], got, want)
		}
	}
	if !strings.Contains(lines[0], "stage=router") || !strings.Contains(lines[0], "consumer group") {
		t.Errorf("%q lost its attributes, or the advice says nothing of the group", lines[0])
	}
}

// TestAdvisingLeavesRepetitionsOut: a session that is refused is tried twice a
// second, for as long as nobody acts.
func TestAdvisingLeavesRepetitionsOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out testkit.Logs
		handler := Advising(slog.NewTextHandler(&out, nil))
		a, b := slog.New(handler).With("stage", "a"), slog.New(handler).With("stage", "b")
		for range 2 * 30 {
			a.Warn("session ended", "error", kerr.TransactionalIDAuthorizationFailed)
			b.Warn("session ended", "error", kerr.TransactionalIDAuthorizationFailed)
			a.Warn("session ended", "error", kerr.GroupAuthorizationFailed)
			a.Warn("session ended", "error", errors.New("connection refused"))
			virtual.Sleep(500 * time.Millisecond)
		}
		for text, want := range map[string]int{"transactional id": 3, "consumer group": 3, "connection refused": 60} {
			if got := out.Count(text); got != want {
				t.Errorf("%q was said %d times in half a minute, want %d", text, got, want)
			}
		}
	})
}
