package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/anabranch/anabranch/internal/app/command"
	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/test/testkit"
)

// applied runs `anabranch apply` and returns what it prints.
func applied(t *testing.T, env map[string]string, file string, dryRun bool) (string, error) {
	t.Helper()
	cfg, err := settings.Load(env, Stages())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = command.Apply(t.Context(), settings.Process{Config: cfg, Log: slog.New(slog.DiscardHandler), Out: &out, Environment: env}, file, command.Applying{DryRun: dryRun})
	return out.String(), err
}

// TestMoreDestinationsThanWereTried are refused on the embedded broker, by `apply` before
// it connects and by `run` before it starts anything, and elsewhere warned of.
func TestMoreDestinationsThanWereTried(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("sources: []\ndestinations:\n")
	for i := range workspace.TriedDestinations + 1 {
		fmt.Fprintf(&text, "  - {id: d%d, type: webhooks, name: D, sources: [], endpoints: [{url: \"https://example.com\"}]}\n", i)
	}
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, text.String())
	for _, dryRun := range []bool{true, false} {
		if _, err := applied(t, map[string]string{"BROKER_ADDR": "127.0.0.1:1"}, file, dryRun); !errors.Is(err, workspace.ErrCrowded) {
			t.Errorf("apply to the embedded broker (dry run: %v): %v", dryRun, err)
		}
	}
	if out, err := applied(t, map[string]string{"KAFKA_BROKERS": "127.0.0.1:1"}, file, true); err != nil || !strings.Contains(out, "warning: 1001 destinations") {
		t.Errorf("apply elsewhere: %v, printed %s", err, out)
	}
	// The address of an embedded broker may be taken for that of a Kafka.
	taken := strings.Join(testkit.Fake(t, kfake.ClusterID(kafka.EmbeddedCluster)).Addrs, ",")
	for _, dryRun := range []bool{true, false} {
		if _, err := applied(t, map[string]string{"KAFKA_BROKERS": taken}, file, dryRun); !errors.Is(err, workspace.ErrCrowded) {
			t.Errorf("apply to KAFKA_BROKERS that are embedded (dry run: %v): %v", dryRun, err)
		}
	}
	env := with(environment(t), "KAFKA_BROKERS", taken, "WORKSPACE_FILE", file)
	named, err := settings.Load(env, Stages())
	if err != nil {
		t.Fatal(err)
	}
	err = Run(t.Context(), TargetRun, settings.Process{Config: named, Log: slog.New(slog.DiscardHandler), Out: io.Discard, Environment: env})
	if !errors.Is(err, workspace.ErrCrowded) || !strings.Contains(err.Error(), "WORKSPACE_FILE=") {
		t.Errorf("run on KAFKA_BROKERS that are embedded: %v", err)
	}
	cfg, err := settings.Load(map[string]string{"WORKSPACE_FILE": file, "DATA_DIR": t.TempDir()}, Stages())
	if err != nil {
		t.Fatal(err)
	}
	err = Run(t.Context(), TargetRun, settings.Process{Config: cfg, Log: slog.New(slog.DiscardHandler), Out: io.Discard})
	if !errors.Is(err, workspace.ErrCrowded) || !strings.Contains(err.Error(), "WORKSPACE_FILE=") {
		t.Errorf("run: %v", err)
	}
}

// reachable starts `anabranch run` and returns it with the environment in which a command
// finds it.
func reachable(t *testing.T) (*running, map[string]string) {
	t.Helper()
	env := environment(t)
	r := start(t, env)
	if env["KAFKA_BROKERS"] == "" {
		env = with(env, "BROKER_ADDR", find(t, r.screen.String(), `embedded broker\s+([^,]+),`))
	}
	return r, env
}

func TestApplyShowsTheDifferenceAndPutsItInForce(t *testing.T) {
	t.Parallel()
	r, env := reachable(t)
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, books("https://hooks.example.com/?token=canary"))

	expect := func(dryRun bool, want ...string) {
		t.Helper()
		out, err := applied(t, env, file, dryRun)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(out, part) {
				t.Errorf("apply (dry run: %v) printed\n%s\nwant %q in it", dryRun, out, part)
			}
		}
		for _, secret := range []string{"canary", "s3cret", "wk_books"} {
			if strings.Contains(out, secret) {
				t.Errorf("apply printed the secret %q:\n%s", secret, out)
			}
		}
	}
	difference := []string{"+ source books", "- source website", "+ destination books", "- destination example"}
	expect(true, append(difference, "nothing was changed")...)
	if status := r.post(t, "/v1/track", "wk_books", `{"userId":"u","event":"x"}`); status != http.StatusUnauthorized {
		t.Errorf("after a dry run the new key is answered %d", status)
	}
	expect(false, append(difference, "applied")...)
	expect(false, "in force already")
	expect(true, "in force already")
}

// TestApplyRefusesTheIDOfADeletedAudience, and so does a dry run.
func TestApplyRefusesTheIDOfADeletedAudience(t *testing.T) {
	t.Parallel()
	_, env := reachable(t)
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	for _, audiences := range []string{"[{id: buyers, when: {did: Bought}}]", "[]"} {
		writeFile(t, file, "sources: []\ndestinations: []\naudiences: "+audiences+"\n")
		if out, err := applied(t, env, file, false); err != nil || !strings.Contains(out, "audience buyers\n") {
			t.Fatalf("%s: %v, printed %s", audiences, err, out)
		}
	}
	writeFile(t, file, "sources: []\ndestinations: []\naudiences: [{id: buyers, when: {did: Bought}}]\n")
	for _, dryRun := range []bool{true, false} {
		if out, err := applied(t, env, file, dryRun); !errors.Is(err, workspace.ErrUsedID) || !strings.Contains(err.Error(), "audience buyers: an id can't be used again") {
			t.Errorf("dry run %v: %v, printed %s", dryRun, err, out)
		}
	}
}
