package lab

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/anabranch/anabranch/internal/broker"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/internal/storm/child"
)

// BrokerCommand makes the program an embedded broker and nothing else: one that
// survives the kills of the stages, and that can be held up itself.
const BrokerCommand = "embedded-broker"

// RunBroker is that broker, until ctx ends. Its arguments are a directory and an
// address to listen on.
func RunBroker(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%s: expected a directory and an address, found %v", BrokerCommand, args)
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	b, err := broker.Open(broker.Config{DataDir: args[0], Addr: args[1]}, log) //nolint:contextcheck // its life is that of Run
	if err != nil {
		return err
	}
	return service.Run(ctx, log, []service.Service{b})
}

// startBroker starts an embedded broker in a process of its own.
func startBroker(ctx context.Context, dir string) (*child.Process, string, error) {
	addr, err := child.FreeAddr()
	if err != nil {
		return nil, "", err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	p := &child.Process{
		Name: "broker", Path: self, Args: []string{BrokerCommand, filepath.Join(dir, "broker"), addr},
		Log: filepath.Join(dir, "broker.log"),
	}
	if err = p.Start(); err != nil {
		return nil, "", err
	}
	return p, addr, p.Listening(ctx, addr)
}

// A Holder is a broker that can be stopped in its tracks, and looked at.
type Holder interface {
	Hold() error
	Release() error
	CPU() (time.Duration, error)
}

// A Mortal is a broker that can be killed and started again on the data that it
// left behind.
type Mortal interface {
	Kill() error
	Start() error
}

// foreignBroker is a broker that somebody else started, known by its process id.
type foreignBroker struct{ pid int }

func findForeign(pidFile string) (foreignBroker, error) {
	text, err := os.ReadFile(pidFile) //nolint:gosec // the path is the user's
	if err != nil {
		return foreignBroker{}, fmt.Errorf("-broker-pid: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return foreignBroker{}, fmt.Errorf("-broker-pid: expected a process id in %s, found %q", pidFile, text)
	}
	return foreignBroker{pid}, nil
}

// CPU implements Holder.
func (f foreignBroker) CPU() (time.Duration, error) { return child.CPU(f.pid) }

// Hold implements Holder.
func (f foreignBroker) Hold() error { return syscall.Kill(f.pid, syscall.SIGSTOP) }

// Release implements Holder.
func (f foreignBroker) Release() error { return syscall.Kill(f.pid, syscall.SIGCONT) }
