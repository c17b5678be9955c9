package lab

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/anabranch/anabranch/test/storm/child"
)

// mortalBroker is somebody else's broker for which there is a command that starts
// it again.
type mortalBroker struct {
	foreignBroker
	pidFile, command string
	addr             string // on which it listens
	log              string // path of the file that takes what the command says
}

func (l *Lab) findMortal(f foreignBroker) *mortalBroker {
	return &mortalBroker{
		foreignBroker: f, pidFile: l.bench.BrokerPID, command: l.bench.BrokerStart,
		addr: l.bench.Brokers, log: filepath.Join(l.Dir, "broker-start.log"),
	}
}

// goneWithin is how long the kernel may take to end a killed process. A JVM has
// hundreds of megabytes to give back.
const goneWithin = 30 * time.Second

// Kill implements Mortal. It returns when nobody listens on the broker's address
// any more: the process itself may stay as a zombie until its parent looks.
func (m *mortalBroker) Kill() error {
	if err := syscall.Kill(m.pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill the broker, which should be alive: %w", err)
	}
	var dialer net.Dialer
	return child.Until(context.Background(), goneWithin, "the killed broker to be gone", func() bool {
		conn, err := dialer.Dial("tcp", m.addr)
		return err != nil || conn.Close() != nil
	})
}

// Start implements Mortal. The command is to return when the broker listens, and
// to leave its process id in the same file as before.
func (m *mortalBroker) Start() error {
	log, err := os.OpenFile(m.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("-broker-start: %w", err)
	}
	defer log.Close()                              //nolint:errcheck // the command has a descriptor of its own
	command := exec.Command("sh", "-c", m.command) //nolint:gosec,noctx // the user's own; it ends by itself
	command.Stdout, command.Stderr = log, log
	// Ctrl-C at the bench must not leave the broker half started.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err = command.Run(); err != nil {
		return fmt.Errorf("-broker-start: %w, see %s", err, m.log)
	}
	m.foreignBroker, err = findForeign(m.pidFile)
	return err
}
