package driver

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

// Write writes the calls to the job's scenario file.
func (j *Job) Write() error {
	text, err := json.MarshalIndent(j.Calls, "", " ")
	if err != nil {
		return fmt.Errorf("encode scenario: %w", err)
	}
	return os.WriteFile(j.Scenario, text, 0o600)
}

// Environment returns what a program is told, as the package's comment says.
func (j *Job) Environment() []string {
	gzip := "off"
	if j.Run.Gzip {
		gzip = "on"
	}
	return []string{
		"ENDPOINT=" + j.Endpoint,
		"WRITE_KEY=" + j.WriteKey,
		"GZIP=" + gzip,
		"MODE=" + string(j.Run.Mode),
		"SCENARIO=" + j.Scenario,
	}
}

// Calls returns what the driver has to say in a run: all calls of the scenario
// that the SDK can make and, where it may batch them, the crowd; or large ones.
func (d *Driver) Calls(r *Run) ([]scenario.Call, error) {
	if r.Mode == Large {
		return scenario.Large(large), nil
	}
	calls, err := scenario.All()
	if err != nil {
		return nil, err
	}
	if r.Mode != Each {
		calls = append(calls, scenario.Crowd(crowd)...)
	}
	return d.Limits.Apply(calls), nil
}

// crowd is more than any SDK puts into one request: the largest batch is Java's
// and that of Go 2, of 250.
const crowd = 300

// large times 30 KiB are more than a batch may have (protocol, 7).
const large = 24

// Speak runs the driver's program and waits for its end.
func (d *Driver) Speak(ctx context.Context, job *Job) error {
	if d.Start != nil {
		return d.Start(ctx, job)
	}
	return Exec(ctx, job, d.Command)
}

// Exec runs a command line in the job's folder with its environment, and waits.
// A program in the folder may be named by a relative path.
func Exec(ctx context.Context, job *Job, line []string, more ...string) error {
	path := line[0]
	if filepath.Base(path) != path {
		path = filepath.Join(job.Folder, path)
	}
	c := exec.CommandContext(ctx, path, line[1:]...) //nolint:gosec // from the table of drivers
	c.Dir = job.Folder
	c.Env = append(append(os.Environ(), job.Environment()...), more...)
	c.Stdout, c.Stderr = job.Log, job.Log
	// A program may have children of its own; all of them end with it.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	if err := c.Run(); err != nil {
		return fmt.Errorf("run the SDK: %w", err)
	}
	return nil
}
