package child

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Process is a child process that can be ended and started again. It is not
// safe for concurrent use.
type Process struct {
	Name  string   // for messages
	Path  string   // of the binary
	Args  []string // of the command line
	Env   []string // beside the bench's own
	Admin string   // address of its admin pages; empty when it has none
	Log   string   // path of the file that takes what it says

	command *exec.Cmd
	ended   chan struct{}
	result  error // of the process, once it has ended
}

// Start starts it.
func (p *Process) Start() error {
	log, err := os.OpenFile(p.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	defer log.Close()                           //nolint:errcheck // the child has a descriptor of its own
	p.command = exec.Command(p.Path, p.Args...) //nolint:gosec,noctx // the binary just built; it is ended by hand
	p.command.Env = append(os.Environ(), p.Env...)
	p.command.Stdout, p.command.Stderr = log, log
	// Ctrl-C goes to the bench alone, which ends its children itself.
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.Admin != "" {
		p.command.Env = append(p.command.Env, "ADMIN_ADDR="+p.Admin)
	}
	if err = p.command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	p.ended = make(chan struct{})
	go func(c *exec.Cmd, ended chan<- struct{}) {
		p.result = c.Wait()
		close(ended)
	}(p.command, p.ended)
	return nil
}

// Kill ends it without a warning. An error says that it had ended before, which
// then was no fault of the bench's making.
func (p *Process) Kill() error {
	if err := p.command.Process.Signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s, which should be alive: %w", p.Name, err)
	}
	<-p.ended
	if status, ok := p.command.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		return fmt.Errorf("%s ended by itself before it was killed: %w", p.Name, errors.Join(p.result, errors.New(p.command.ProcessState.String())))
	}
	return nil
}

// stopPatience is when a stop is given up: the product ends itself by force after
// eight seconds.
const stopPatience = 20 * time.Second

// Stop asks for an orderly end, which must succeed, and returns how long it took.
func (p *Process) Stop() (time.Duration, error) {
	begun := time.Now()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, fmt.Errorf("stop %s, which should be alive: %w", p.Name, err)
	}
	patience := time.NewTimer(stopPatience)
	defer patience.Stop()
	select {
	case <-p.ended:
		if p.result != nil {
			return time.Since(begun), fmt.Errorf("orderly stop of %s: %w", p.Name, p.result)
		}
		return time.Since(begun), nil
	case <-patience.C:
		return time.Since(begun), fmt.Errorf("orderly stop of %s: still alive after %s", p.Name, stopPatience)
	}
}

// Hold stops it in its tracks; it keeps its connections and says nothing.
func (p *Process) Hold() error { return p.signal("hold", syscall.SIGSTOP) }

// Release lets it go on after Hold.
func (p *Process) Release() error { return p.signal("release", syscall.SIGCONT) }

func (p *Process) signal(what string, s syscall.Signal) error {
	if err := p.command.Process.Signal(s); err != nil {
		return fmt.Errorf("%s %s: %w", what, p.Name, err)
	}
	return nil
}

// Discard ends it somehow, whatever state it is in; for clean-up.
func (p *Process) Discard() {
	if p.command != nil && p.command.Process != nil {
		_ = p.command.Process.Kill()
	}
}

// Ready waits until it says that a call sent now flows.
func (p *Process) Ready(ctx context.Context) error {
	return p.until(ctx, "to be ready", func() bool {
		resp, err := p.get(ctx, "/readyz")
		return err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
}

// Launch starts it and waits until it is ready.
func (p *Process) Launch(ctx context.Context) error {
	if err := p.Start(); err != nil {
		return err
	}
	return p.Ready(ctx)
}

// until waits for something that only a living process brings about.
func (p *Process) until(ctx context.Context, what string, cond func() bool) error {
	done := false
	err := Until(ctx, time.Minute, p.Name+" "+what+", see "+p.Log, func() bool {
		done = cond()
		return done || p.over()
	})
	if err == nil && !done {
		return fmt.Errorf("wait for %s %s: it has ended, see %s", p.Name, what, p.Log)
	}
	return err
}

func (p *Process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Listening waits until it takes connections on an address.
func (p *Process) Listening(ctx context.Context, addr string) error {
	var dialer net.Dialer
	return p.until(ctx, "to listen", func() bool {
		conn, err := dialer.DialContext(ctx, "tcp", addr)
		return err == nil && conn.Close() == nil
	})
}

func (p *Process) get(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Admin+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	return (&http.Client{Timeout: 20 * time.Second}).Do(req)
}

// Until polls a condition that other processes bring about.
func Until(ctx context.Context, bound time.Duration, what string, cond func() bool) error {
	return until(ctx, bound, 50*time.Millisecond, what, cond)
}

// Often is Until for a condition that is to be seen at once: it looks every two
// milliseconds.
func Often(ctx context.Context, bound time.Duration, what string, cond func() bool) error {
	return until(ctx, bound, 2*time.Millisecond, what, cond)
}

func until(ctx context.Context, bound, every time.Duration, what string, cond func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	tick := time.NewTicker(every)
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

// FreeAddr returns a loopback address that nobody listens on.
func FreeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // released at once
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
