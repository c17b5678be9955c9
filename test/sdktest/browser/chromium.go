package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// The browser that the scenario was written in: SDKs take these two from it,
// whatever they are given.
const (
	timeZone  = "Europe/Berlin"
	userAgent = "Mozilla/5.0 (example)"
)

// chromium is a running browser.
type chromium struct {
	stop    context.CancelFunc
	ended   chan struct{}
	err     error // of the process, once it has ended
	profile string
	said    bytes.Buffer // its log and its console, once it has ended
}

// launch starts a browser that has never been used and has it open a page. What
// it says goes to log too.
func launch(ctx context.Context, command, page string, log io.Writer) (*chromium, error) {
	profile, err := os.MkdirTemp("", "anabranch-chromium-")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	c := &chromium{stop: stop, ended: make(chan struct{}), profile: profile}
	cmd := exec.CommandContext(ctx, command, append(arguments(profile), page)...) //nolint:gosec // the browser that the caller names
	cmd.Env = append(os.Environ(), "TZ="+timeZone, "TMPDIR="+profile)
	cmd.Stdout, cmd.Stderr = log, io.MultiWriter(log, &c.said)
	// It has processes of its own, which end with the group.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	if err = cmd.Start(); err != nil {
		stop()
		return nil, errors.Join(fmt.Errorf("launch the browser: %w", err), os.RemoveAll(profile))
	}
	go func() {
		c.err = cmd.Wait()
		close(c.ended)
	}()
	return c, nil
}

// arguments are the browser's.
func arguments(profile string) []string {
	return []string{
		"--headless", "--user-data-dir=" + profile, "--user-agent=" + userAgent, "--enable-logging=stderr",
		"--disable-popup-blocking", // the page opens itself
		"--ignore-certificate-errors",
		// Root and most containers have none to offer, and the scripts are pinned.
		"--no-sandbox",
		// It shall speak to nobody but us.
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-default-apps", "--disable-extensions", "--disable-quic", "--no-proxy-server",
		"--disable-gpu", "--disable-dev-shm-usage",
	}
}

// close ends the browser, of which nothing is kept, and returns what its console
// had to complain about.
func (c *chromium) close() ([]string, error) {
	c.stop()
	<-c.ended
	return complaints(c.said.String()), os.RemoveAll(c.profile)
}

// complaints returns the messages of the console that tell of a failure of the
// page's or of an answer that the page was not allowed to see. A request that met
// a fault is none: the browser mentions each.
func complaints(said string) []string {
	var found []string
	for line := range strings.Lines(said) {
		_, message, ok := strings.Cut(line, ":CONSOLE:")
		if !ok {
			continue
		}
		if strings.Contains(message, "blocked by CORS policy") || strings.Contains(message, "Uncaught") {
			found = append(found, "the console: "+strings.TrimSpace(message))
		}
	}
	return found
}
