package releasetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repository is one with a commit that may be released as v1.2.3.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "## Unreleased\n\n## v1.2.3 (2026-11-22)\n")
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "All there is")
	return dir
}

func write(t *testing.T, dir, changelog string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(changelog), 0o600); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := run(dir, "git", args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

// run runs a command as somebody whom git knows, without the machine's settings.
func run(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestRelease(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("../../scripts/release.sh")
	if err != nil {
		t.Fatal(err)
	}
	both := []string{"analytics/v1.2.3", "v1.2.3"}
	for name, c := range map[string]struct {
		before func(t *testing.T, dir string)
		args   []string
		tags   []string
		says   string
		fails  bool
	}{
		"both modules":       {args: []string{"v1.2.3"}, tags: both, says: "git push origin v1.2.3 analytics/v1.2.3"},
		"only a look":        {args: []string{"-n", "v1.2.3"}, says: "would tag"},
		"no version":         {says: "expected one such as v1.2.3", fails: true},
		"not a version":      {args: []string{"1.2.3"}, says: "expected one such as v1.2.3", fails: true},
		"another major":      {args: []string{"v2.0.0"}, says: "below v2", fails: true},
		"nothing to tell":    {args: []string{"v1.2.4"}, says: "no heading '## v1.2.4'", fails: true},
		"the dot is a dot":   {args: []string{"v1.203.0"}, says: "no heading", fails: true},
		"dry, and not ready": {args: []string{"-n", "v1.2.4"}, says: "no heading", fails: true},
		"changes": {
			before: func(t *testing.T, dir string) { t.Helper(); write(t, dir, "## v1.2.3\n\nmore\n") },
			args:   []string{"v1.2.3"}, says: "has changes", fails: true,
		},
		"half done": {
			before: func(t *testing.T, dir string) { t.Helper(); git(t, dir, "tag", "analytics/v1.2.3") },
			args:   []string{"v1.2.3"}, tags: both[:1], says: "a tag analytics/v1.2.3 already", fails: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := repository(t)
			if c.before != nil {
				c.before(t, dir)
			}
			out, err := run(dir, script, c.args...)
			if (err != nil) != c.fails || !strings.Contains(out, c.says) {
				t.Errorf("%v: %q, expected %q", err, out, c.says)
			}
			if tags := strings.Fields(git(t, dir, "tag")); !slices.Equal(tags, c.tags) {
				t.Errorf("tags %q, expected %q", tags, c.tags)
			}
		})
	}
}
