package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/anabranch/anabranch/test/storm/child"
)

// TestABrokerIsKilledAndStartedAgain with a process that listens nowhere in its
// place.
func TestABrokerIsKilledAndStartedAgain(t *testing.T) {
	t.Parallel()
	victim := exec.CommandContext(t.Context(), "sleep", "60")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	addr, err := child.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	pidFile := filepath.Join(dir, "pid")
	if err = os.WriteFile(pidFile, []byte(strconv.Itoa(victim.Process.Pid)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := newLab(&Bench{Brokers: addr, BrokerPID: pidFile, BrokerStart: "echo 4242 >" + pidFile}, "row", dir)
	if err = l.findBroker(t.Context()); err != nil {
		t.Fatal(err)
	}
	broker := l.Broker.(*mortalBroker)
	if err = broker.Kill(); err != nil {
		t.Fatal(err)
	}
	if err = victim.Wait(); err == nil || victim.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the victim ended with %v, expected it to be killed", err)
	}
	if err = broker.Start(); err != nil || broker.pid != 4242 {
		t.Errorf("the broker has process id %d after its start, error %v", broker.pid, err)
	}
	broker.command = "echo no disk; exit 3"
	if err = broker.Start(); err == nil || !strings.Contains(err.Error(), broker.log) {
		t.Errorf("a start that failed: %v, expected the path of what was said", err)
	}
}

func TestABrokerWithoutAStartIsHeldAlone(t *testing.T) {
	t.Parallel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	if err := os.WriteFile(pidFile, []byte("4242"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := newLab(&Bench{Brokers: "kafka:9092", BrokerPID: pidFile}, "row", "")
	if err := l.findBroker(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, mortal := l.Broker.(Mortal); mortal {
		t.Error("it can be killed, and nothing would start it again")
	}
}
