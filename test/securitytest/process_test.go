package securitytest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

// program is the product as it is shipped, built once.
var program = sync.OnceValues(func() (string, error) {
	file := filepath.Join(broker.dir, "anabranch")
	out, err := exec.Command("go", "build", "-o", file, "../../cmd/anabranch").CombinedOutput()
	if err != nil {
		_, _ = os.Stderr.Write(out)
	}
	return file, err
})

// command is the program with an environment that has nothing of ours.
func command(ctx context.Context, t *testing.T, env map[string]string, args ...string) *exec.Cmd {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatalf("build the program: %v", err)
	}
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// run runs a command that ends by itself and returns what it printed, its log too.
func run(t *testing.T, env map[string]string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := command(t.Context(), t, env, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// stage is a process that runs one.
type stage struct {
	cmd *exec.Cmd
	log testkit.Logs

	collect, admin string // where ingest takes calls, and where each has its admin pages
	ended          chan error
}

// launch starts a stage, and ends it with the test.
func launch(t *testing.T, target string, env map[string]string) *stage {
	t.Helper()
	s := &stage{ended: make(chan error, 1)}
	s.cmd = command(context.Background(), t, env, target)
	s.cmd.Stderr = &s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.ended <- s.cmd.Wait() }()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		if t.Failed() {
			t.Logf("log of %s:\n%s", target, s.log.String())
		}
	})
	return s
}

// ready waits until the stage says that it is.
func (s *stage) ready(t *testing.T) *stage {
	t.Helper()
	testkit.Until(t, func() bool {
		select {
		case err := <-s.ended:
			t.Fatalf("the stage ended while it started: %v\n%s", err, s.log.String())
		default:
		}
		return s.says("ready")
	}, "the stage to be ready")
	return s
}

// says reports whether the log has a message, and takes the addresses from it.
func (s *stage) says(message string) bool {
	lines := bufio.NewScanner(strings.NewReader(s.log.String()))
	for lines.Scan() {
		var line struct {
			Msg     string `json:"msg"`
			Collect string `json:"collect"`
			Admin   string `json:"admin"`
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == message {
			s.collect, s.admin = line.Collect, line.Admin
			return true
		}
	}
	return false
}

// stop ends the stage as an operator does.
func (s *stage) stop(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("the stop was not orderly: %v\n%s", err, s.log.String())
	}
}
