package child

import (
	"bytes"
	"fmt"
	"os"
)

// ResetPeak has [Process.Peak] begin with what is in use now.
func (p *Process) ResetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.command.Process.Pid), []byte("5"), 0) // proc_pid_clear_refs(5)
}

// Peak is the most memory that the process had in use at a time, in bytes.
func (p *Process) Peak() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the memory of process %d: %w", p.command.Process.Pid, err)
	}
	return parsePeak(status)
}

func parsePeak(status []byte) (int64, error) {
	_, rest, found := bytes.Cut(status, []byte("VmHWM:"))
	var kilobytes int64
	if _, err := fmt.Fscan(bytes.NewReader(rest), &kilobytes); !found || err != nil {
		return 0, fmt.Errorf("read the memory of a process: found no VmHWM in %q", status)
	}
	return kilobytes << 10, nil
}
