package app

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/telemetry"
)

// typed runs Main as the shell would and returns what it prints.
func typed(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return typedOf(t, Stages(), args...)
}

// typedOf is typed for a program with the stages of a list.
func typedOf(t *testing.T, list pipeline.List, args ...string) (string, error) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	mainErr := execute(t.Context(), args, settings.Program{Streams: Streams{Out: out, Err: out}, Stages: list})
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text), mainErr
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct{ out, err string }{
		"":                       {out: "anabranch run"},
		"help":                   {out: "anabranch run"},
		"--help":                 {out: "anabranch run"},
		"run --help":             {out: "Usage: anabranch run\n"},
		"help ingest":            {out: "its own begin with INGEST_"},
		"router -h":              {out: "exactly once"},
		"help status":            {out: "Usage: anabranch status"},
		"help doctor":            {out: "--stage"},
		"help dead-letters":      {out: "dead-letters show [--json] ID"},
		"help dead-letters list": {out: "Usage: anabranch dead-letters list"},
		"help version":           {out: "anabranch version"},
		"help start":             {err: `unknown command "start"`},
		"help config":            {out: "WEBHOOK_SINK_RETRY_WINDOW"},
		"help workspace":         {out: "sharedSecret:"},
		"version":                {out: "anabranch "},
		"apply":                  {err: "expected -f FILE"},
		"run now":                {err: `unexpected argument "now"`},
		"start":                  {err: `unknown command "start"`},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			out, err := typed(t, strings.Fields(line)...)
			if !strings.Contains(out, want.out) {
				t.Errorf("printed %q, want %q in it", out, want.out)
			}
			if (err != nil) != (want.err != "") || err != nil && !strings.Contains(err.Error(), want.err) {
				t.Errorf("error %v, want %q", err, want.err)
			}
		})
	}
}

// TestHelpIsWhole: each command of the table is listed, and explained.
func TestHelpIsWhole(t *testing.T) {
	t.Parallel()
	list, err := typed(t, "help")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands(Stages()) {
		if !regexp.MustCompile(`(?m)^  anabranch (\S+\|)?` + c.Name + `\b`).MatchString(list) {
			t.Errorf("%s is not in the list of commands:\n%s", c.Name, list)
		}
		if text, err := Help(Stages(), c.Name); err != nil || c.Help == "" && c.Name != "version" && c.Name != "help" || !strings.HasPrefix(text, "Usage") || !strings.Contains(text, c.Help) {
			t.Errorf("help %s: %v\n%s", c.Name, err, text)
		}
	}
}

// TestTheDocumentHasTheRoles: docs/brokers.md shows what the code says.
func TestTheDocumentHasTheRoles(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/brokers.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), "<!-- acls:begin -->\n")
	shown, after, ended := strings.Cut(rest, "<!-- acls:end -->")
	if !found || !ended {
		t.Fatal("docs/brokers.md has no place for the roles")
	}
	want := acl.Markdown(Roles(Stages()))
	if *update {
		text = []byte(before + "<!-- acls:begin -->\n" + want + "<!-- acls:end -->" + after)
		if err := os.WriteFile("../../docs/brokers.md", text, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("docs/brokers.md differs from the roles (go test ./internal/app -run TheDocumentHasTheRoles -update writes it; -roles +document)\n%s", diff)
	}
}

// TestRolesAreNarrow: nothing is allowed twice, or more widely than by names of ours.
func TestRolesAreNarrow(t *testing.T) {
	t.Parallel()
	names := make(map[string]bool)
	for _, role := range Roles(Stages()) {
		if names[role.Name] || role.Does == "" || len(role.Rules) == 0 {
			t.Errorf("role %q is there twice, or does nothing", role.Name)
		}
		names[role.Name] = true
		seen := make(map[string]bool)
		for _, r := range role.Rules {
			if seen[r.String()] {
				t.Errorf("%s is allowed %s twice", role.Name, r)
			}
			seen[r.String()] = true
			if r.Name == "" || r.Name == "*" || r.Resource == kmsg.ACLResourceTypeCluster {
				t.Errorf("%s is allowed %s, which is wider than what is ours", role.Name, r)
			}
			if r.Why == "" || r.Creates != (r.Operation == kmsg.ACLOperationCreate) {
				t.Errorf("%s is allowed %s, and nothing says why, or that it is to create topics", role.Name, r)
			}
		}
	}
}

// TestReadersWriteNothing: who only looks can't do harm.
func TestReadersWriteNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"status", "dead-letters list"} {
		role, ok := acl.Named(Roles(Stages()), name)
		if !ok {
			t.Fatalf("there is no role %s", name)
		}
		for _, r := range role.Rules {
			switch r.Operation {
			case kmsg.ACLOperationRead, kmsg.ACLOperationDescribe, kmsg.ACLOperationDescribeConfigs:
			default:
				t.Errorf("%s is allowed %s", name, r)
			}
		}
	}
}

// TestHelpNamesEveryAdminPage, as / on the admin address does.
func TestHelpNamesEveryAdminPage(t *testing.T) {
	t.Parallel()
	const path = "/regulations"
	whole, err := Help(Stages(), TargetRun)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range append(telemetry.Pages(), telemetry.Page{Path: path}) {
		if !strings.Contains(whole, "  "+want.Path+" ") {
			t.Errorf("the help of run does not name %s", want.Path)
		}
	}
	if text, err := Help(Stages(), "router"); err != nil || strings.Contains(text, path) {
		t.Errorf("the help of router names %s, which it does not have (%v)", path, err)
	}
}

// TestImagesNameTheirVersion, or a rolling upgrade would look like none in
// anabranch_build_info. The linker says nothing of a variable that it does not find.
func TestImagesNameTheirVersion(t *testing.T) {
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if flag := "-X " + reflect.TypeFor[run]().PkgPath() + ".release=${VERSION}"; !strings.Contains(string(text), flag) {
		t.Errorf("the Dockerfile does not build with %s", flag)
	}
	defer func(was string) { release = was }(release)
	release = "v1.2.3"
	if got := version(); got != release {
		t.Errorf("version is %q, want %q", got, release)
	}
}
