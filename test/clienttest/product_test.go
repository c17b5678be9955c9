package clienttest

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
)

// start runs the product with a workspace until the test ends, and returns the URL
// of its collection API.
func start(t *testing.T, workspace string) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "anabranch")
	if out, err := exec.Command("go", "-C", "../..", "build", "-o", program, "./cmd/anabranch").CombinedOutput(); err != nil {
		t.Fatalf("build the product: %v\n%s", err, out)
	}
	file := filepath.Join(dir, "workspace.yaml")
	if err := os.WriteFile(file, []byte(workspace), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "run")
	cmd.Env = []string{
		"INGEST_ADDR=127.0.0.1:0", "ADMIN_ADDR=127.0.0.1:0", "RECEIVER_ADDR=127.0.0.1:0", "BROKER_ADDR=127.0.0.1:0",
		"DATA_DIR=" + filepath.Join(dir, "data"), "WORKSPACE_FILE=" + file, "WEBHOOK_SINK_ALLOW_NETWORKS=127.0.0.0/8",
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	screen, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	api, read := greeting(screen)
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-read // before Wait, which closes the screen
		if err := cmd.Wait(); err != nil {
			t.Errorf("the stop was not orderly: %v", err)
		}
		if t.Failed() {
			t.Logf("log:\n%s", log.String())
		}
	})
	if api == "" {
		t.Fatal("the product ended while it started")
	}
	return api
}

var collection = regexp.MustCompile(`collection API\s+(http://[^/]+)/`)

// greeting reads what the product prints when it is ready, and returns the URL of its
// collection API, or nothing if it ended before. The rest is read in the background,
// so that nothing waits for a reader; read is closed at its end.
func greeting(screen io.Reader) (api string, read <-chan struct{}) {
	lines := bufio.NewScanner(screen)
	for api == "" && lines.Scan() {
		if m := collection.FindStringSubmatch(lines.Text()); m != nil {
			api = m[1]
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, screen)
	}()
	return api, done
}
