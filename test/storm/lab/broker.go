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
	"github.com/anabranch/anabranch/internal/broker/datadir"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/child"
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
func (l *Lab) startBroker(ctx context.Context) error {
	addr, err := child.FreeAddr()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	data := filepath.Join(l.Dir, "broker")
	p := &child.Process{Name: "broker", Path: self, Args: []string{BrokerCommand, data, addr}, Log: filepath.Join(l.Dir, "broker.log")}
	l.processes = append(l.processes, p)
	if err = p.Start(); err != nil {
		return err
	}
	if err = p.Listening(ctx, addr); err != nil {
		return err
	}
	l.Brokers, l.Broker = addr, p
	l.password, err = datadir.Read(data, datadir.BrokerPassword)
	return err
}

// EmbeddedBroker is how to reach an embedded broker.
func EmbeddedBroker(addr string, password schemas.Secret) kafka.Config {
	return kafka.Config{Brokers: []string{addr}, SASLMechanism: broker.Mechanism, Username: broker.User, Password: password}
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
