package app

import (
	"bytes"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/app/command"
	"github.com/anabranch/anabranch/internal/app/settings"
)

// applied runs `anabranch apply` and returns what it prints.
func applied(t *testing.T, env map[string]string, file string, dryRun bool) (string, error) {
	t.Helper()
	cfg, err := settings.Load(env)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = command.Apply(t.Context(), settings.Process{Config: cfg, Log: slog.New(slog.DiscardHandler), Out: &out, Environment: env}, file, dryRun)
	return out.String(), err
}

func TestApplyShowsTheDifferenceAndPutsItInForce(t *testing.T) {
	t.Parallel()
	env := environment(t)
	r := start(t, env)
	if env["KAFKA_BROKERS"] == "" {
		env = with(env, "BROKER_ADDR", find(t, r.screen.String(), `embedded broker\s+([^,]+),`))
	}
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
