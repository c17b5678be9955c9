package child

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// tick is the unit in which Linux counts the time of processes, whatever that of
// its scheduler.
const tick = 10 * time.Millisecond

// CPU is how long the process has computed since it was started last.
func (p *Process) CPU() (time.Duration, error) { return CPU(p.command.Process.Pid) }

// CPU is how long the process of that id has computed, in user and in kernel mode.
func CPU(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("read the CPU time of process %d: %w", pid, err)
	}
	return parseStat(stat)
}

// parseStat reads fields 14 and 15 of proc_pid_stat(5). The second, a name in
// parentheses, may hold anything.
func parseStat(stat []byte) (time.Duration, error) {
	const utime, stime = 14 - 3, 15 - 3 // counted from behind the name
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= stime {
		return 0, fmt.Errorf("read the CPU time of a process: found %d fields in %q", len(fields), stat)
	}
	var ticks uint64
	for _, field := range [][]byte{fields[utime], fields[stime]} {
		n, err := strconv.ParseUint(string(field), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the CPU time of a process: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}
