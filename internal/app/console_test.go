package app

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestTheConsole shows, at the address that is printed, what goes through the pipeline, to
// whoever may look.
func TestTheConsole(t *testing.T) {
	t.Parallel()
	r := start(t, with(environment(t), "ADMIN_TOKEN", ""))
	if address := find(t, r.screen.String(), `console\s+(http://\S+)`); address != r.admin+"/console/" {
		t.Errorf("the address that is printed is %s", address)
	}
	if status := r.post(t, "/v1/track", workspace.ExampleWriteKey, `{"userId":"u","event":"Seen","messageId":"m1"}`); status != http.StatusOK {
		t.Fatalf("the call was answered %d", status)
	}
	testkit.Until(t, func() bool { return strings.Contains(r.get(t, "/console/events?user=u"), "id=m1&amp;user=u") }, "the events of the user to have the call")
	testkit.Until(t, func() bool { return strings.Contains(r.get(t, "/console/event?id=m1&user=u"), "took it after") }, "the trace to end with the delivery")
	testkit.Until(t, func() bool { return strings.Contains(r.get(t, "/console/"), "1 accepted =") }, "the overview to have the call")
	testkit.Until(t, func() bool { return strings.Contains(r.get(t, "/console/live?user=u"), "<td>Seen</td>") }, "the newest calls to have it")
	testkit.Until(t, func() bool { return strings.Contains(r.get(t, "/console/personas"), "<td>ready</td>") }, "the audience of the example to be ready")
	testkit.Until(t, func() bool { return strings.Contains(r.get(t, "/console/profile?user=u"), "<dd>website</dd>") }, "the user to be known")
	if page := r.get(t, "/console/destination?id=example"); !strings.Contains(page, r.receiverURL(t)) {
		t.Errorf("the page of the destination is\n%s", page)
	}
}

// receiverURL is where the example delivers to.
func (r *running) receiverURL(t *testing.T) string {
	t.Helper()
	return find(t, r.screen.String(), `webhook receiver (\S+)`)
}

// TestTheConsoleLeavesAWatchedFileAlone, which would undo what was applied.
func TestTheConsoleLeavesAWatchedFileAlone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	if err := os.WriteFile(file, []byte("sources: []\ndestinations: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, with(environment(t), "ADMIN_TOKEN", "", "WORKSPACE_FILE", file))
	if page := r.get(t, "/console/workspace/plan"); !strings.Contains(page, file+", is what counts") {
		t.Errorf("the page is\n%s", page)
	}
}

// TestTheConsoleIsShut where a token was set.
func TestTheConsoleIsShut(t *testing.T) {
	t.Parallel()
	r := start(t, with(environment(t), "ADMIN_TOKEN", "zqAdminToken7"))
	if page := r.get(t, "/console/"); !strings.Contains(page, `name="token"`) || strings.Contains(page, "Pipeline") {
		t.Errorf("who has not logged in is shown\n%s", page)
	}
}

// TestTheConsoleIsSwitchedOff, without a trace.
func TestTheConsoleIsSwitchedOff(t *testing.T) {
	t.Parallel()
	r := start(t, with(environment(t), "CONSOLE", "false"))
	if page := r.get(t, "/console/"); page != "404 page not found\n" || strings.Contains(r.screen.String(), "/console/") || strings.Contains(r.get(t, "/"), "/console/") {
		t.Errorf("the console is switched off, and this is there:\n%s", page)
	}
}
