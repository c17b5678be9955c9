package app

import (
	"path/filepath"
	"strings"
	"testing"
)

// typedHas checks that what a command prints has some texts.
func typedHas(t *testing.T, line string, want ...string) {
	t.Helper()
	out, err := typed(t, strings.Fields(line)...)
	for _, text := range want {
		if err != nil || !strings.Contains(out, text) {
			t.Errorf("%s: %v, printed without %q\n%s", line, err, text, out)
		}
	}
}

// TestWhoAppliedWhat is known from the next command on.
func TestWhoAppliedWhat(t *testing.T) {
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	env := environment(t)
	setShell(t, env, start(t, env))
	for i, by := range []string{"ada", "bob"} {
		writeFile(t, file, books([]string{"https://one.example.com/", "https://two.example.com/"}[i]))
		typedHas(t, "apply -f "+file+" --by "+by, "applied "+file)
	}
	typedHas(t, "applied history", "by bob\n  ~ destination books: endpoints changed\n", "by ada\n", "+ source books")
	typedHas(t, "applied history --last 1", "by bob")
	typedHas(t, "applied history --json", `"by":"bob","changes":[{"op":"~","kind":"destination","id":"books","fields":["endpoints"]}]}`)
	typedHas(t, "applied list --json", `{"kind":"source","id":"books","changed_at":"`, `"by":"ada"}`, `{"kind":"destination","id":"books","changed_at":"`, `"by":"bob"}`)
	typedHas(t, "applied list", "KIND", "source       books", "destination  books")
	if out, err := typed(t, "applied", "history", "--last", "-1"); err == nil || !strings.Contains(err.Error(), "expected 0 or more") {
		t.Errorf("printed %s, %v", out, err)
	}
}

// TestAFileInForceIsNoted with its name and its machine.
func TestAFileInForceIsNoted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, books("https://one.example.com/"))
	env := with(environment(t), "WORKSPACE_FILE", file)
	setShell(t, env, start(t, env))
	typedHas(t, "applied history", "by WORKSPACE_FILE "+file, "+ source books")
}
