package stack

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Kill ends the process of a container with SIGKILL, as the kernel does that is out
// of memory, and returns when the container runs again: its restart policy brings
// it back.
//
// `docker kill` would count as a wish to have it stopped. It is used, and the
// container then started by hand, where the engine's processes are not this
// machine's or not this user's to kill.
func (s *Stack) Kill(ctx context.Context, c *Container) error {
	if killProcess(c) {
		return s.awaitRestart(ctx, c)
	}
	if _, err := s.run(ctx, []string{"docker", "kill", c.ID}); err != nil {
		return err
	}
	_, err := s.run(ctx, []string{"docker", "start", c.ID})
	return err
}

// Restart stops a container as its service is stopped, and starts it again.
func (s *Stack) Restart(ctx context.Context, c *Container) error {
	_, err := s.run(ctx, []string{"docker", "restart", "--time", "30", c.ID})
	return err
}

// killProcess reports whether it could. It looks first whether the process is the
// container's: seen from another machine the number is somebody else's.
func killProcess(c *Container) bool {
	groups, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(c.State.Pid), "cgroup"))
	if err != nil || c.ID == "" || !bytes.Contains(groups, []byte(c.ID)) {
		return false
	}
	return syscall.Kill(c.State.Pid, syscall.SIGKILL) == nil
}

func (s *Stack) awaitRestart(ctx context.Context, before *Container) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		text, err := s.run(ctx, []string{"docker", "inspect", before.ID})
		if err != nil {
			return err
		}
		now, err := parseContainers(text)
		if err != nil {
			return err
		}
		if len(now) == 1 && now[0].RestartCount > before.RestartCount && now[0].State.Running {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for the restart of %s: %w", before, context.Cause(ctx))
		}
	}
}
