package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// child is an Anabranch process that can be killed and started again.
type child struct {
	binary string
	target string
	admin  string
	env    []string
	loud   bool
	cmd    *exec.Cmd
	kills  int
}

// build compiles the product as a user would.
func build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "anabranch")
	out, err := exec.CommandContext(ctx, "go", //nolint:gosec // the binary's place is ours
		"build", "-o", binary, "github.com/anabranch/anabranch/cmd/anabranch").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return binary, nil
}

func (c *child) start() error {
	c.cmd = exec.Command(c.binary, c.target) //nolint:gosec,noctx // the binary just built; it is ended by hand
	c.cmd.Env = append(os.Environ(), c.env...)
	c.cmd.Env = append(c.cmd.Env, "ADMIN_ADDR="+c.admin)
	if c.loud {
		c.cmd.Stderr = os.Stderr
	}
	if err := c.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", c.target, err)
	}
	return nil
}

// kill ends the process without a warning, and counts that only if it was
// alive until then.
func (c *child) kill() error {
	if err := c.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s, which should be alive: %w", c.target, err)
	}
	err := c.cmd.Wait()
	if status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		return fmt.Errorf("%s ended by itself before it was killed: %w", c.target, err)
	}
	c.kills++
	return nil
}

// stop asks for an orderly end, which must succeed.
func (c *child) stop() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop %s: %w", c.target, err)
	}
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("orderly stop of %s: %w", c.target, err)
	}
	return nil
}

// ready waits until the process says that a call sent now flows.
func (c *child) ready(ctx context.Context) error {
	return until(ctx, time.Minute, c.target+" to be ready", func() bool {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.admin+"/readyz", http.NoBody)
		if err != nil {
			return false
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return false
		}
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
}

// killOnSchedule kills and restarts the process at the plan's moments.
func (c *child) killOnSchedule(ctx context.Context, p plan) error {
	begun := time.Now()
	for _, at := range p.moments() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(begun.Add(at))):
		}
		if err := c.kill(); err != nil {
			return err
		}
		if err := c.start(); err != nil {
			return err
		}
	}
	return c.ready(ctx)
}

// until polls a condition that other processes bring about.
func until(ctx context.Context, bound time.Duration, what string, cond func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %s for %s", bound, what)
		case <-tick.C:
		}
	}
	return nil
}

// freeAddr returns a loopback address that nobody listens on.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // released at once
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
